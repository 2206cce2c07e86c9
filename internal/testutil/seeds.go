package testutil

import "testing"

// Seeds returns how many random cases a test is to try: n, and a quarter of them in short mode, which is for the race
// detector. It makes each case many times as slow, and all of them are tried without it as well.
func Seeds(n uint64) uint64 {
	if testing.Short() {
		return max(1, n/4)
	}
	return n
}
