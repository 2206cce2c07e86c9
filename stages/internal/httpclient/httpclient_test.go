package httpclient

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/stages/internal/netguard"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// newTestClient returns a client with default options that may ask these networks.
func newTestClient(t *testing.T, networks ...string) (*Client, *pipeline.Env) {
	t.Helper()
	guard, err := netguard.New(networks)
	if err != nil {
		t.Fatal(err)
	}
	env := pipeline.NewEnv("p", "fetch", nil)
	env.Workers = 8
	c, err := New(Config{
		UserAgent: "test/1", Anonymous: true, AllowNetworks: networks, ConnectTimeout: 10 * time.Second, HeaderTimeout: 20 * time.Second,
		Timeout: time.Minute, MaxHeader: 256 << 10, IdleConnections: 256, Options: Defaults,
	}, guard, env)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c, env
}

// ask makes a request and reads its response.
func ask(t *testing.T, c *Client, url string) error {
	t.Helper()
	target, err := ParseTarget(url)
	if err != nil {
		t.Fatal(err)
	}
	a, err := c.Get(t.Context(), target, nil, 1<<20)
	if err == nil {
		a.Release()
	}
	return err
}

// A server that hangs up is asked again once, however many connections to it were used before: the first of them may
// have been too old.
func TestAServerThatHangsUpIsAskedTwiceAtMost(t *testing.T) {
	t.Parallel()
	const connections = 8
	for name, end := range map[string]func(net.Conn){
		"hangs up": func(net.Conn) {},
		"resets":   func(c net.Conn) { c.(*net.TCPConn).SetLinger(0) },
		"garbage":  func(c net.Conn) { fmt.Fprint(c, "220 mail.example.org ready\r\n") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var bad, together atomic.Int64
			all := make(chan struct{})
			mux := http.NewServeMux()
			mux.HandleFunc("/together", func(http.ResponseWriter, *http.Request) {
				if together.Add(1) == connections {
					close(all)
				}
				<-all
			})
			mux.HandleFunc("/good", func(http.ResponseWriter, *http.Request) {})
			mux.HandleFunc("/bad", func(w http.ResponseWriter, r *http.Request) {
				bad.Add(1)
				conn, _, err := http.NewResponseController(w).Hijack()
				if err != nil {
					t.Error(err)
					return
				}
				end(conn)
				conn.Close()
			})
			server := httptest.NewServer(mux)
			defer server.Close()
			client, _ := newTestClient(t, "loopback")
			var asking sync.WaitGroup
			for range connections {
				asking.Go(func() {
					if err := ask(t, client, server.URL+"/together"); err != nil {
						t.Error(err)
					}
				})
			}
			asking.Wait()
			if err := ask(t, client, server.URL+"/bad"); err == nil || bad.Load() > 2 {
				t.Errorf("%v after %d requests, want an error after 2 at most", err, bad.Load())
			}
			if err := ask(t, client, server.URL+"/good"); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestRefusalsAreTold(t *testing.T) {
	t.Parallel()
	for err, want := range map[error]bool{
		&netguard.RefusedError{}:                true,
		fmt.Errorf("dial: %w", &ContactError{}): true,
		errors.New("connection refused"):        false,
	} {
		if IsRefusal(err) != want {
			t.Errorf("%v: %v", err, !want)
		}
	}
}
