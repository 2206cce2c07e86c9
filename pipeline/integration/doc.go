// Package integration holds the tests of what the framework promises with the shipped stages: the framework itself
// knows none.
package integration
