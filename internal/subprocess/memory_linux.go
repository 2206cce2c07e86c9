package subprocess

import (
	"bytes"
	"os"
	"strconv"
)

// Memory returns how many bytes the processes of each group have to themselves: what is in memory, and shared with no
// other. It looks at all processes of the system once, however many groups there are.
func Memory(groups ...*Group) []int64 {
	sums := make([]int64, len(groups))
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return sums
	}
	at := make(map[int]int, len(groups))
	for i, g := range groups {
		at[g.ID()] = i
	}
	for _, entry := range entries {
		if _, err := strconv.Atoi(entry.Name()); err != nil {
			continue
		}
		if i, ours := at[groupOf(entry.Name())]; ours {
			sums[i] += ownMemory(entry.Name())
		}
	}
	return sums
}

// groupOf returns the process group of a process; -1 if it has ended. See proc(5).
func groupOf(pid string) int {
	stat, _ := os.ReadFile("/proc/" + pid + "/stat")
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:]) // what is before may hold anything
	if len(fields) < 3 {
		return -1
	}
	group, _ := strconv.Atoi(string(fields[2]))
	return group
}

// ownMemory returns how many bytes of a process are in memory that are not shared.
func ownMemory(pid string) int64 {
	statm, _ := os.ReadFile("/proc/" + pid + "/statm")
	fields := bytes.Fields(statm)
	if len(fields) < 3 {
		return 0
	}
	resident, _ := strconv.ParseInt(string(fields[1]), 10, 64)
	shared, _ := strconv.ParseInt(string(fields[2]), 10, 64)
	return (resident - shared) * int64(os.Getpagesize())
}
