package admin

import (
	"context"
	"net"
	"net/http"
	"time"
)

// grace is how long somebody who is being answered when a server stops has until the connection is cut.
const grace = 5 * time.Second

// Serve answers at a listener until stop is called, which may be called twice. Answers that go on for ever, as a tap, end then: their
// request's context does.
func Serve(listener net.Listener, handler http.Handler) (stop func()) {
	base, cancel := context.WithCancel(context.Background())
	server := &http.Server{
		Handler: handler, BaseContext: func(net.Listener) context.Context { return base },
		ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 64 << 10,
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		server.Serve(listener) // returns when it is closed
	}()
	return func() {
		ctx, done := context.WithTimeout(context.Background(), grace)
		defer done()
		listener.Close() // also where the server has not begun to serve
		cancel()
		if err := server.Shutdown(ctx); err != nil {
			server.Close()
		}
		<-ended
	}
}
