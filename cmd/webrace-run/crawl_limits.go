package main

import (
	"encoding"
	"errors"
	"fmt"

	"github.com/spf13/cobra"
	"github.com/webrace/webrace/cmd/internal/cli"
	"github.com/webrace/webrace/pipeline"
)

// limitFlags are the limits of what a crawl fetches in one run: options of the frontier.
type limitFlags struct {
	pages       int
	time, bytes string
}

func (f *limitFlags) add(c *cobra.Command) {
	c.Flags().IntVar(&f.pages, "pages", 0, "end when `N` documents were fetched or confirmed; the same command goes on from there (default no limit)")
	c.Flags().StringVar(&f.time, "time", "", "end after a `DURATION` such as 10m (default no limit)")
	c.Flags().StringVar(&f.bytes, "bytes", "", "end when documents of a `SIZE` such as 50MB were fetched (default no limit)")
}

// set returns the options by which the limits that were given are kept.
func (f *limitFlags) set(c *cobra.Command) (set []string, err error) {
	var size pipeline.Size
	var duration pipeline.Duration
	if c.Flags().Changed("pages") {
		if f.pages < 1 {
			return nil, cli.Wrongf("--pages %d: it is at least 1; without it there is no limit", f.pages)
		}
		set = append(set, fmt.Sprintf("frontier.run_pages=%d", f.pages))
	}
	if c.Flags().Changed("time") {
		err = errors.Join(err, limit("--time", f.time, &duration, func() bool { return duration > 0 }))
		set = append(set, fmt.Sprintf("frontier.run_time=%q", f.time))
	}
	if c.Flags().Changed("bytes") {
		err = errors.Join(err, limit("--bytes", f.bytes, &size, func() bool { return size > 0 }))
		set = append(set, fmt.Sprintf("frontier.run_bytes=%q", f.bytes))
	}
	return set, err
}

// limit reads the value of a flag, which sets a limit.
func limit(flag, text string, value encoding.TextUnmarshaler, isPositive func() bool) error {
	if err := value.UnmarshalText([]byte(text)); err != nil {
		return cli.Wrongf("%s: %w", flag, err)
	}
	if !isPositive() {
		return cli.Wrongf("%s %s: it is more than 0; without it there is no limit", flag, text)
	}
	return nil
}
