package testutil

import (
	"syscall"
	"time"
)

// threadTime returns how long the thread has had a processor.
func threadTime() time.Duration {
	const ofThread = 1 // RUSAGE_THREAD
	var used syscall.Rusage
	if err := syscall.Getrusage(ofThread, &used); err != nil {
		panic(err) // it is there since Linux 2.6.26
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}
