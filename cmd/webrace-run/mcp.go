package main

import (
	"errors"
	"fmt"
	"net"

	"github.com/spf13/cobra"
	"github.com/webrace/webrace/cmd/internal/cli"
	"github.com/webrace/webrace/cmd/internal/mcp"
	"github.com/webrace/webrace/cmd/internal/storecmd"
	"github.com/webrace/webrace/internal/credentials"
	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/pipeline/admin"
	"github.com/webrace/webrace/storage"
)

// mcpFlags determine where agents are answered beside a run, and what they may have done.
type mcpFlags struct {
	address   string
	tokenFile string
	limits    mcp.Limits
}

// mcpPrefix is what the flags begin with that bound agents.
const mcpPrefix = "mcp-"

func (f *mcpFlags) addFlags(c *cobra.Command) {
	c.Flags().StringVar(&f.address, "mcp", "", "answer agents at `HOST:PORT`, by the Model Context Protocol over HTTP; each needs a token")
	c.Flags().StringVar(&f.tokenFile, "mcp-token-file", "", "a `FILE` with a line OWNER TOKEN for each owner as whom agents act, beside the tokens that people have made in the web application")
	f.limits.AddFlags(c.Flags(), mcpPrefix)
}

// mcpServer answers agents.
type mcpServer struct {
	limits   mcp.Limits
	tokens   mcp.Tokens
	listener net.Listener
}

// listen checks the flags, and begins to listen where they say; nil if they say nowhere.
func (f *mcpFlags) listen() (*mcpServer, error) {
	limited := f.limits.Fetch || f.limits.AnyUse || f.limits.CrawlPages != 0 || len(f.limits.CrawlHosts) > 0
	switch {
	case f.address == "" && (f.tokenFile != "" || limited):
		return nil, cli.Wrongf("--mcp-token-file, --mcp-fetch and --mcp-crawl are of no use without --mcp HOST:PORT")
	case f.address == "":
		return nil, nil
	}
	s := &mcpServer{limits: f.limits}
	if err := s.limits.Check(mcpPrefix); err != nil {
		return nil, cli.Wrong(err)
	}
	if _, _, err := net.SplitHostPort(f.address); err != nil {
		return nil, cli.Wrongf("--mcp: %q is not HOST:PORT: %w", f.address, err)
	}
	var err error
	if f.tokenFile != "" {
		if s.tokens, err = mcp.ReadTokens(f.tokenFile); err != nil {
			return nil, cli.Wrongf("--mcp-token-file: %w", err)
		}
	}
	if s.listener, err = net.Listen("tcp", f.address); err != nil {
		return nil, &cli.Error{Status: cli.Environment, Err: fmt.Errorf("--mcp: %w", err)}
	}
	return s, nil
}

// close ends it where it was never served.
func (s *mcpServer) close() {
	if s != nil {
		s.listener.Close()
	}
}

// serve answers agents over a data directory that is open, until it is stopped: by then no call is under way.
func (s *mcpServer) serve(l *launch, dir *storage.Dir) (stop func() error, err error) {
	if s == nil {
		return func() error { return nil }, nil
	}
	globals := l.asConfigured().globals
	store, err := dir.Control()
	if err != nil {
		return nil, err
	}
	var fetcher *mcp.Fetcher
	if s.limits.Fetch {
		options, err := storecmd.FetchOptions(&globals, l.names)
		if err != nil {
			return nil, err
		}
		lent := new(pipeline.Resources)
		pipeline.Provide[credentials.Open](lent, func() (credentials.Source, error) { return store, nil })
		if fetcher, err = mcp.NewFetcher(options, lent); err != nil {
			return nil, err
		}
	}
	handler := mcp.NewHandler(s.tokens, store, func(owner string) mcp.Options {
		desk := storecmd.NewMCPDesk(&globals, dir, owner, s.limits)
		desk.Running = true
		return mcp.Options{Call: desk.Call, Limits: s.limits, Fetch: fetcher}
	})
	end := admin.Serve(s.listener, handler.Guarded())
	l.out.note("agents are answered at http://%s%s", s.listener.Addr(), mcp.Path)
	return func() error {
		err := handler.Close()
		end()
		if fetcher != nil {
			err = errors.Join(err, fetcher.Close())
		}
		return err
	}, nil
}
