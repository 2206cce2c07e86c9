package cluster

import (
	"hash/fnv"
	"math/bits"
	"strings"
)

// PartitionOf returns the partition that a host is of, or anything else that has a name and is to be in one place. It
// never changes, or what is stored of a host would be looked for where it is not.
func PartitionOf(name string, partitions int) int {
	h := fnv.New64a()
	h.Write([]byte(strings.ToLower(name)))
	sum := h.Sum64()
	return int(bits.RotateLeft64(sum, 32)^sum) & (partitions - 1)
}
