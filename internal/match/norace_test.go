//go:build !race

package match

const poolsKeep = true
