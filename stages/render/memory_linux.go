package render

import (
	"bytes"
	"os"
	"strconv"
)

// memoryOf returns how many bytes the processes of a group have to themselves.
func memoryOf(group int) (sum int64) {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return 0
	}
	for _, entry := range entries {
		if _, err := strconv.Atoi(entry.Name()); err == nil && groupOf(entry.Name()) == group {
			sum += ownMemory(entry.Name())
		}
	}
	return sum
}

// groupOf returns the process group of a process; 0 if it has ended. See proc(5).
func groupOf(pid string) int {
	stat, _ := os.ReadFile("/proc/" + pid + "/stat")
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:]) // what is before may hold anything
	if len(fields) < 3 {
		return 0
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
