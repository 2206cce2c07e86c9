//go:build race

package match

// Under the race detector a pool drops some of what it is given.
const poolsKeep = false
