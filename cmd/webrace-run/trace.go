package main

import (
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"
	"github.com/webrace/webrace/cmd/internal/cli"
	"github.com/webrace/webrace/internal/otlp"
	"github.com/webrace/webrace/pipeline"
)

// traceFlags say where spans are written.
type traceFlags struct {
	path  string
	share float64
}

func (f *traceFlags) add(c *cobra.Command) {
	c.Flags().StringVar(&f.path, "trace", "", "append OpenTelemetry spans to a `FILE`, as lines of OTLP JSON")
	c.Flags().Float64Var(&f.share, "trace-share", 0.01, "the share of requests that --trace follows, from 0 to 1")
}

// open returns what follows leases, nil if nothing does, and a function that ends it.
func (f traceFlags) open() (pipeline.Tracer, func() error, error) {
	if f.share < 0 || f.share > 1 {
		return nil, nil, cli.Wrongf("--trace-share %v: it is a share from 0 to 1", f.share)
	}
	if f.path == "" {
		return nil, func() error { return nil }, nil
	}
	file, err := os.OpenFile(f.path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return nil, nil, cli.Wrong(fmt.Errorf("--trace: %w", err))
	}
	tracer := otlp.New(file, f.share)
	return tracer, func() error {
		if err := errors.Join(tracer.Err(), file.Close()); err != nil {
			return fmt.Errorf("write spans: %w", err)
		}
		return nil
	}, nil
}
