package fulltext

import "syscall"

// unload lets go of the memory of a mapped file, which is read from the file again when it is used next. It fails only
// for what is not mapped, and then nothing is lost but memory.
func unload(mapped []byte) {
	if len(mapped) > 0 {
		_ = syscall.Madvise(mapped, syscall.MADV_DONTNEED)
	}
}
