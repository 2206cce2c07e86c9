//go:build !linux

package postgres

import (
	"syscall"
	"time"
)

// Servers are run on Linux alone: [newest] finds Debian's.

func attributes() *syscall.SysProcAttr { return nil }

func giveAway(string) error { return nil }

func isOurs(string) bool { return false }

func account() any { return nil }

func (s *Server) kill() error { return nil }

// CPU returns nothing where no server runs.
func (s *Server) CPU() time.Duration { return 0 }

func (s *Server) freeze() error { return nil }

func (s *Server) thaw() error { return nil }

func ended(int) bool { return true }
