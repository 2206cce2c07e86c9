// Package pointer is [atomic.Pointer] for types that other packages name.
//
// The compiler of a package reads the types to which those that it names lead, through fields that are not exported as
// well, and compiles the methods of generic ones again. Seven fields of type [atomic.Pointer] in what every stage gets
// from the pipeline were half of what it took to compile a small stage. What has no methods costs nothing, so these are
// functions, which those alone compile that call them.
package pointer

import (
	"sync/atomic"
	"unsafe"
)

// Atomic is a pointer that goroutines share. The zero value is nil. It must not be copied.
type Atomic[T any] struct{ p unsafe.Pointer } // a *T

// Load returns the pointer.
func Load[T any](a *Atomic[T]) *T { return (*T)(atomic.LoadPointer(&a.p)) }

// Store replaces the pointer.
func Store[T any](a *Atomic[T], value *T) { atomic.StorePointer(&a.p, unsafe.Pointer(value)) }

// Swap replaces the pointer, and returns what it was.
func Swap[T any](a *Atomic[T], value *T) *T {
	return (*T)(atomic.SwapPointer(&a.p, unsafe.Pointer(value)))
}

// CompareAndSwap replaces the pointer if it is old, and reports whether it was.
func CompareAndSwap[T any](a *Atomic[T], old, value *T) bool {
	return atomic.CompareAndSwapPointer(&a.p, unsafe.Pointer(old), unsafe.Pointer(value))
}
