package main

import (
	"context"
	"net/http"
	"time"

	"github.com/webrace/webrace/cmd/internal/remote"
	"github.com/webrace/webrace/cmd/internal/storecmd"
	"github.com/webrace/webrace/pipeline/admin"
	"github.com/webrace/webrace/pipeline/connections"
	"github.com/webrace/webrace/storage"
)

// grace is how long a command that a client is waiting for may go on when the pipelines have ended.
const grace = 5 * time.Second

// serveSockets makes this process answer at its socket, in a data directory, for its pipelines and for webrace-store,
// and at those of its sessions that have directories of their own for webrace-store. The function that it returns ends
// it.
func (p *process) serveSockets() (stop func()) {
	stops := []func(){p.serveSocket(p.socket, p.commands, p.admin, p.node)}
	for _, s := range p.sessions {
		if s.commands != nil {
			stops = append(stops, p.serveSocket(s.dir.Path(storage.SocketName), s.commands, http.NotFoundHandler(), nil))
		}
	}
	return func() {
		for _, stop := range stops {
			stop()
		}
	}
}

// serveSocket runs commands for those who ask at a socket, and answers what a node is asked, if it is one's. No
// pipeline depends on it, so a socket that cannot be had is no reason not to run.
func (p *process) serveSocket(path string, run func(context.Context, remote.Call) int, more http.Handler, node *storecmd.Node) (stop func()) {
	listener, err := admin.Listen(path)
	if err != nil {
		p.out.logger.Warn("webrace-store cannot reach this process while it runs", "error", err)
		return func() {}
	}
	commands := &remote.Server{Run: run, Logger: p.out.logger}
	mux := http.NewServeMux()
	mux.Handle("/", more)
	mux.Handle("POST "+remote.Path, commands)
	if node != nil {
		mux.Handle("POST "+remote.ClusterPath, commands)
		mux.Handle("POST "+storecmd.SearchPath, node.Searches(p.out.logger))
	}
	end := admin.Serve(listener, admin.RefuseForeign(connections.AdmitAll(mux))) // a tunnel may lead a browser here
	return func() {
		end()
		ctx, cancel := context.WithTimeout(context.Background(), grace)
		defer cancel()
		commands.Shutdown(ctx)
	}
}
