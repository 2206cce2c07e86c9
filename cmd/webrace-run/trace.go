package main

import (
	"errors"
	"fmt"
	"log/slog"
	"os"

	"github.com/spf13/cobra"
	"github.com/webrace/webrace/cmd/internal/cli"
	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/pipeline/otlp"
)

// traceFlags determine where spans are written. The standard variables of OpenTelemetry determine where they are sent.
type traceFlags struct {
	path  string
	share float64 // less than 0 if it was not given
}

// usualShare of requests is followed unless the flags set another.
const usualShare = 0.01

func (f *traceFlags) add(c *cobra.Command) {
	c.Flags().StringVar(&f.path, "trace", "", "append OpenTelemetry spans to a `FILE`, as lines of OTLP JSON; OTEL_EXPORTER_OTLP_ENDPOINT sends them to a collector")
	c.Flags().Float64Var(&f.share, "trace-share", -1, "the `SHARE` of requests that are followed, from 0 to 1 (default 0.01, or OTEL_TRACES_SAMPLER_ARG)")
	c.Flags().Lookup("trace-share").DefValue = "0" // so that the usage alone tells it
}

// tracing is what follows requests, and where it tells of them.
type tracing struct {
	settings otlp.Settings
	share    float64
	path     string
}

// prepare reads what is to be followed, and opens nothing.
func (f traceFlags) prepare() (*tracing, error) {
	settings, err := otlp.Environment(os.Getenv)
	if err != nil {
		return nil, cli.Wrong(err)
	}
	t := &tracing{settings, f.share, f.path}
	switch {
	case f.share > 1 || f.share < 0 && f.share != -1:
		return nil, cli.Wrongf("--trace-share %v: it is a share from 0 to 1", f.share)
	case f.share >= 0:
	case settings.Share >= 0:
		t.share = settings.Share
	default:
		t.share = usualShare
	}
	return t, nil
}

// open returns what follows leases, nil if nothing does, and a function that ends it.
func (t *tracing) open(logger *slog.Logger) (pipeline.Tracer, func() error, error) {
	var sinks []otlp.Sink
	end := func() error { return nil }
	if t.path != "" {
		out, err := os.OpenFile(t.path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
		if err != nil {
			return nil, nil, cli.Wrong(fmt.Errorf("--trace: %w", err))
		}
		file := otlp.NewFile(out, t.settings.Service)
		sinks = append(sinks, file)
		end = func() error {
			if err := errors.Join(file.Err(), out.Close()); err != nil {
				return fmt.Errorf("write spans: %w", err)
			}
			return nil
		}
	}
	if t.settings.Endpoint != nil && t.share > 0 {
		collector := otlp.NewCollector(t.settings, logger)
		sinks = append(sinks, collector)
		endFile := end
		end = func() error {
			collector.Close()
			return endFile()
		}
	}
	if len(sinks) == 0 {
		return nil, end, nil
	}
	return otlp.New(t.share, sinks...), end, nil
}
