package main

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"github.com/webrace/webrace/storage/cluster"
)

// kills measures how long the sites of a node wait that is killed and started again at once.
func (c *clusterCrawl) kills(b *bench) error {
	kills := 20
	if b.quick {
		kills = 4
	}
	f, err := startFarm(2, clusterHosts, 40, scaledDelay)
	if err != nil {
		return err
	}
	defer f.stop()
	p, err := c.processes(f, 2, 2, "--set", "fetch.workers=4")
	if err != nil {
		return err
	}
	other, killed := p.commands[1], p.commands[0]
	if err := errors.Join(other.Start(), killed.Start()); err != nil {
		return err
	}
	var worst time.Duration
	var at time.Time // of the last kill
	for n := range kills + 1 {
		asked, err := f.awaitNode(0, 2)
		if err != nil {
			return errors.Join(err, end(killed), end(other))
		}
		if n > 0 {
			worst = max(worst, asked.Sub(at))
		}
		if n == kills {
			break
		}
		time.Sleep(rand.N(500 * time.Millisecond)) // the moment of the kill
		if err := killed.Process.Kill(); err != nil {
			return err
		}
		at = time.Now()
		_ = killed.Wait()                  // it was killed
		time.Sleep(100 * time.Millisecond) // what it has sent has arrived by then
		f.requests()
		killed = exec.Command(killed.Path, killed.Args[1:]...)
		if err := killed.Start(); err != nil {
			return errors.Join(err, end(other))
		}
	}
	name := fmt.Sprintf("a node is killed and started, its sites asked again, longest of %d, wall", kills)
	b.table.value(name, worst.Seconds(), "s", atMost(5))
	return errors.Join(end(killed), end(other))
}

// end ends a process where it stands.
func end(c *exec.Cmd) error {
	err := c.Process.Kill()
	_ = c.Wait() // it was killed
	return err
}

// awaitNode waits until a site of a node is asked, and returns when that was.
func (f *farm) awaitNode(node, nodes int) (time.Time, error) {
	began := time.Now()
	for time.Since(began) < time.Minute {
		for _, r := range f.requests() {
			host, _, _ := strings.Cut(strings.TrimPrefix(r.url, "http://"), "/")
			if cluster.PartitionOf(host, nodes)%nodes == node {
				return r.at, nil
			}
		}
		time.Sleep(time.Millisecond)
	}
	return time.Time{}, fmt.Errorf("no site of node %d was asked for a minute", node)
}

// atRest measures what a partition takes of memory, and a node of PostgreSQL, that has nothing to do.
func (c *clusterCrawl) atRest(b *bench) error {
	f, err := startFarm(mostPartitions, clusterHosts, 1, 0)
	if err != nil {
		return err
	}
	defer f.stop()
	var took [2]int64
	for i, partitions := range []int{1, mostPartitions} {
		p, err := c.processes(f, partitions, 1, "--continuous")
		if err != nil {
			return err
		}
		command := p.commands[0]
		f.requests()
		if err := command.Start(); err != nil {
			return err
		}
		for asked, began := 0, time.Now(); asked < f.all() && time.Since(began) < time.Minute; asked += len(f.requests()) {
			time.Sleep(10 * time.Millisecond)
		}
		time.Sleep(5 * time.Second) // so that what the crawl needed is given back
		if partitions > 1 {
			const rest = 20 * time.Second // the server's time is told in hundredths of a second
			before := c.server.CPU()
			time.Sleep(rest)
			b.table.value("a node of 32 partitions at rest, a second, CPU of PostgreSQL", micros(c.server.CPU()-before)/rest.Seconds()/1000, "ms", nil)
		}
		took[i], err = residentBytes(command.Process.Pid, "VmRSS")
		if err := errors.Join(err, end(command)); err != nil {
			return err
		}
	}
	b.table.value("a partition at rest, RSS", float64(took[1]-took[0])/(mostPartitions-1)/1e6, "MB", atMost(atRestLimit/1e6))
	return nil
}

// residentBytes returns how much memory a process has: VmRSS, or VmHWM for the most that it had.
func residentBytes(process int, field string) (int64, error) {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", process))
	if err != nil {
		return 0, err
	}
	_, rest, _ := strings.Cut(string(status), field+":")
	line, _, _ := strings.Cut(rest, "kB")
	kilobytes, err := strconv.ParseInt(strings.TrimSpace(line), 10, 64)
	return kilobytes << 10, err
}
