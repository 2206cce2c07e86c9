package admin

import (
	"context"
	"crypto/tls"
	"io"
	"log"
	"net"
	"net/http"
	"time"

	"github.com/webrace/webrace/pipeline/connections"
)

// What a connection may take. All servers of this program are made by [Serve], so that a peer that sends or reads
// slowly, or opens connections without end, holds up no more than these.
const (
	headerTime    = 10 * time.Second // until the header of a request is there
	requestTime   = 30 * time.Second // until all of it is
	answerTime    = time.Minute      // until the answer has been read; handlers of long ones set their own deadlines
	idleTime      = 2 * time.Minute  // between requests
	longestHeader = 64 << 10         // bytes
	mostConnected = 256              // connections at once, if [connections.Process] has the room
	grace         = 5 * time.Second  // that an answer under way has when the server stops
)

// Serve answers at a listener until stop is called, which may be called twice. Handlers tell by [connections.Admit]
// whose connections stay open while others wait for room. Answers that go on for ever, as a tap, end then: their
// request's context does.
func Serve(listener net.Listener, handler http.Handler) (stop func()) {
	return serve(listener, newServer(handler))
}

// ServeTLS is Serve for HTTP/1.1 over TLS, which commands can leave for a protocol of their own.
func ServeTLS(listener net.Listener, config *tls.Config, handler http.Handler) (stop func()) {
	server := newServer(handler)
	server.TLSConfig, server.TLSNextProto = config, map[string]func(*http.Server, *tls.Conn, http.Handler){}
	server.ErrorLog = log.New(io.Discard, "", 0) // of who has no certificate of the cluster
	return serve(listener, server)
}

func newServer(handler http.Handler) *http.Server {
	return &http.Server{
		Handler: handler, ReadHeaderTimeout: headerTime, ReadTimeout: requestTime, WriteTimeout: answerTime, IdleTimeout: idleTime,
		MaxHeaderBytes: longestHeader,
	}
}

func serve(listener net.Listener, server *http.Server) (stop func()) {
	base, cancel := context.WithCancel(context.Background())
	server.BaseContext = func(net.Listener) context.Context { return base }
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		connections.Process().Serve(server, listener, mostConnected) // returns when it is closed
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
