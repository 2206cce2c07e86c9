package testutil

import (
	"testing"
	"time"
)

// Await waits until something is so that happens in the background, and tells nobody. What it waits for is named where
// the test fails.
func Await(t testing.TB, what string, is func() bool) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); !is(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("waited a minute for this: %s", what)
		}
	}
}
