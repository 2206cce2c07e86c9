package main

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"
)

// cost is what one round took.
type cost struct {
	CPU  time.Duration // user and system, all threads, and that of processes that it started and waited for
	Wall time.Duration
}

// contestant does the whole work once, and reports if it was not done right.
type contestant struct {
	name  string
	round func() error
}

// race runs every contestant once unmeasured, which proves that it does the work, then all of them in
// turn for so many rounds, so that what else the machine does falls on all alike. It returns the costs of
// each by name.
func race(rounds int, contestants []contestant) (map[string][]cost, error) {
	for _, c := range contestants {
		if err := c.round(); err != nil {
			return nil, fmt.Errorf("check of %s: %w", c.name, err)
		}
	}
	costs := make(map[string][]cost)
	for range rounds {
		for _, c := range contestants {
			runtime.GC() // nobody pays for what the one before left behind
			cpu, began := ownCPU()+childrenCPU(), time.Now()
			if err := c.round(); err != nil {
				return nil, fmt.Errorf("%s: %w", c.name, err)
			}
			costs[c.name] = append(costs[c.name], cost{CPU: ownCPU() + childrenCPU() - cpu, Wall: time.Since(began)})
		}
	}
	return costs, nil
}

// ownCPU is the CPU time that this process has used so far.
func ownCPU() time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		panic(fmt.Sprintf("getrusage of the own process: %v", err)) // it has no way to fail
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

// childrenCPU is the CPU time of the processes that this one has started, as far as they have ended.
func childrenCPU() time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_CHILDREN, &usage); err != nil {
		panic(fmt.Sprintf("getrusage of children: %v", err)) // it has no way to fail
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

// usage is what a child process took from its start to its end.
type usage struct {
	cost
	PeakRSS int64 // bytes
}

// runProcess runs a command to its end. What it used is known also when it ended with an [exec.ExitError].
func runProcess(c *exec.Cmd) (usage, error) {
	began := time.Now()
	if err := c.Start(); err != nil {
		return usage{}, fmt.Errorf("run %s: %w", c.Path, err)
	}
	peak := peakOf(c.Process)
	err := c.Wait()
	wall := time.Since(began)
	if err != nil {
		err = fmt.Errorf("run %s: %w", c.Path, err)
	}
	state := c.ProcessState
	return usage{cost: cost{CPU: state.UserTime() + state.SystemTime(), Wall: wall}, PeakRSS: <-peak}, err
}

// peakOf returns, once the process has ended, how many bytes of memory it had at most, as it is seen every 10 ms. What
// the system reports of a process that was waited for begins with that of its parent, and this one holds a lot.
func peakOf(p *os.Process) <-chan int64 {
	peak := make(chan int64, 1)
	go func() {
		most := int64(0)
		for {
			status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.Pid))
			_, rest, found := strings.Cut(string(status), "VmHWM:")
			if err != nil || !found { // it has ended
				peak <- most
				return
			}
			var kilobytes int64
			if _, err := fmt.Sscan(rest, &kilobytes); err == nil {
				most = max(most, kilobytes<<10)
			}
			time.Sleep(10 * time.Millisecond)
		}
	}()
	return peak
}

func cpuOf(c cost) time.Duration  { return c.CPU }
func wallOf(c cost) time.Duration { return c.Wall }

// best and middle are the minimum and the median of one of the two times.
func best(costs []cost, of func(cost) time.Duration) time.Duration { return sorted(costs, of)[0] }
func middle(costs []cost, of func(cost) time.Duration) time.Duration {
	return sorted(costs, of)[len(costs)/2]
}

func sorted(costs []cost, of func(cost) time.Duration) []time.Duration {
	times := make([]time.Duration, len(costs))
	for i, c := range costs {
		times[i] = of(c)
	}
	slices.Sort(times)
	return times
}
