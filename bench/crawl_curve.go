package main

import (
	"fmt"
	"strconv"
	"time"
)

// The curve of the papers: how many pages a second come of more and more requests in flight, where answers take a
// while. It is said to grow no more where twice as many requests bring less than grows.
const (
	mostInFlight = 64
	grows        = 1.2
	curveSeconds = 3 // that each point is to take, if the crawl waits for nothing but answers
)

// curve lets the whole pipeline crawl generated sites that answer slowly.
func (c *crawlBench) curve(b *bench) error {
	delays, most := []time.Duration{50 * time.Millisecond, 250 * time.Millisecond}, mostInFlight
	if b.quick {
		delays, most = delays[:1], 8
	}
	for _, delay := range delays {
		last, end := 0.0, 0
		for n := 1; n <= most; n *= 2 {
			pace, err := c.paced(n, delay)
			if err != nil {
				return fmt.Errorf("%d requests in flight at answers of %v: %w", n, delay, err)
			}
			name := fmt.Sprintf("%s, answers of %v, %d requests in flight, pages a second", wholeName, delay, n)
			b.table.against(name, pace, "", "requests in flight / answer", float64(n)/delay.Seconds(), nil)
			if end == 0 && n > 1 && pace < grows*last {
				end = n / 2
			}
			last = pace
		}
		if end == 0 {
			end = most
		}
		b.table.value(fmt.Sprintf("%s, answers of %v, requests in flight that it grows up to (of %d)", wholeName, delay, most), float64(end), "", nil)
	}
	return nil
}

// paced crawls a site with so many requests in flight, and returns pages a second beyond starting: the difference of
// two sites, one of which is twice as large.
func (c *crawlBench) paced(n int, delay time.Duration) (float64, error) {
	pages := max(20, int(float64(n)*curveSeconds/delay.Seconds()))
	var took [2]time.Duration
	for i := range took {
		used, err := c.slowly(n, (i+1)*pages, delay)
		if err != nil {
			return 0, err
		}
		took[i] = used.Wall
	}
	return float64(pages) / max(took[1]-took[0], time.Millisecond).Seconds(), nil
}

// slowly crawls a site of so many pages, each of which is answered after the delay.
func (c *crawlBench) slowly(n, pages int, delay time.Duration) (used usage, err error) {
	err = c.generated(pages, delay, func(of *crawlBench) error {
		command, err := of.whole(of.dir)
		if err != nil {
			return err
		}
		command.Args = append(command.Args, "--set", "fetch.workers="+strconv.Itoa(n))
		used, err = of.all(pages, func() (usage, error) { return runProcess(command) })
		return err
	})
	return used, err
}
