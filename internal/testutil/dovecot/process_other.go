//go:build !linux

package dovecot

import "syscall"

// The server is run on Linux alone: it is Debian's.

const ordinary, ordinaryGroup = "", ""

func attributes() *syscall.SysProcAttr { return nil }

func giveAway(string) error { return nil }
