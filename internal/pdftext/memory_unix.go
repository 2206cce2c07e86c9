//go:build unix

package pdftext

import "syscall"

// mapped returns memory that is there once it is touched, and zero; nil if there are no addresses for it.
func mapped(size int) []byte {
	space, err := syscall.Mmap(-1, 0, size, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		return nil
	}
	return space
}

func unmap(space []byte) {
	if space != nil {
		_ = syscall.Munmap(space)
	}
}
