//go:build !linux

package exec

func host() {}
