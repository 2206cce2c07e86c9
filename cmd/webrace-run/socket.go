package main

import (
	"context"
	"net/http"
	"time"

	"github.com/webrace/webrace/cmd/internal/remote"
	"github.com/webrace/webrace/pipeline/admin"
	"github.com/webrace/webrace/pipeline/connections"
)

// grace is how long a command that a client is waiting for may go on when the pipelines have ended.
const grace = 5 * time.Second

// serveSocket makes this process answer at its socket, in a data directory: for its pipelines, and, there alone, for
// webrace-store. No pipeline depends on it, so a socket that cannot be had is no reason not to run. The
// function that it returns ends it.
func (p *process) serveSocket() (stop func()) {
	listener, err := admin.Listen(p.socket)
	if err != nil {
		p.out.logger.Warn("webrace-store cannot reach this process while it runs", "error", err)
		return func() {}
	}
	commands := &remote.Server{Run: p.commands, Logger: p.out.logger}
	mux := http.NewServeMux()
	mux.Handle("/", p.admin)
	mux.Handle("POST "+remote.Path, commands)
	end := admin.Serve(listener, admin.RefuseForeign(connections.AdmitAll(mux))) // a tunnel may lead a browser here
	return func() {
		end()
		ctx, cancel := context.WithTimeout(context.Background(), grace)
		defer cancel()
		commands.Shutdown(ctx)
	}
}
