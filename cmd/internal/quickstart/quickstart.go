// Package quickstart has a program start sooner. The tables that some hundred packages make for themselves are more
// than the 4 MB at which garbage is collected first, of which there is none yet: the collection took a third of the
// time of a short command.
//
// It imports almost nothing, because packages are initialized in the order of what they import: it comes before those
// that make tables.
package quickstart

import (
	"runtime"
	"runtime/debug"
)

// first is the percentage (see [debug.SetGCPercent]) until garbage was collected once, by which that is at 16 MB.
const first = 400

func init() {
	usual := debug.SetGCPercent(first)
	if usual < 0 || usual > first {
		debug.SetGCPercent(usual) // as the environment's GOGC has it
		return
	}
	runtime.AddCleanup(new([16]byte), func(usual int) { debug.SetGCPercent(usual) }, usual)
}
