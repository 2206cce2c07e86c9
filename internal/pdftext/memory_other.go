//go:build !unix

package pdftext

func mapped(size int) []byte { return make([]byte, size) }

func unmap([]byte) {}
