//go:build !unix

package render

import "os/exec"

// ownGroup does nothing: the browser's processes end when the first of them does.
func ownGroup(*exec.Cmd) {}

// killGroup does nothing: the process is killed by who started it.
func killGroup(int) {}
