package httpclient

import (
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// TestAHostWithATLSFaultIsLeftAlone: however many of its pages are asked for, one handshake is enough.
func TestAHostWithATLSFaultIsLeftAlone(t *testing.T) {
	t.Parallel()
	var connections atomic.Int64
	server := httptest.NewUnstartedServer(http.NotFoundHandler())
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.Config.ConnState = func(_ net.Conn, s http.ConnState) {
		if s == http.StateNew {
			connections.Add(1)
		}
	}
	server.StartTLS()
	defer server.Close()
	c, _ := newTestClient(t, "loopback")
	for i := range 20 {
		if err := ask(t, c, fmt.Sprintf("%s/%d", server.URL, i)); !IsRefusal(err) {
			t.Fatal(err)
		}
	}
	if connections.Load() != 1 {
		t.Errorf("%d connections", connections.Load())
	}
	for _, host := range c.faults.byHost.Keys() {
		c.faults.byHost.Add(host, rememberedFault{until: time.Now().Add(-time.Second)})
	}
	if err := ask(t, c, server.URL+"/again"); !IsRefusal(err) {
		t.Fatal(err)
	}
	if connections.Load() != 2 {
		t.Errorf("%d connections when the fault is forgotten", connections.Load())
	}
}

func TestFilesOfCertificatesThatAreNoneAreRefused(t *testing.T) {
	t.Parallel()
	none := filepath.Join(t.TempDir(), "none.pem")
	empty := filepath.Join(t.TempDir(), "empty.pem")
	if err := os.WriteFile(empty, []byte("nothing"), 0o600); err != nil {
		t.Fatal(err)
	}
	for want, o := range map[string]TLSOptions{
		"ca_file: open ":                      {CAFile: none},
		"holds no certificate":                {CAFile: empty},
		"client_cert: read it and client_key": {ClientCert: empty, ClientKey: none, ClientCertHosts: []string{"*"}},
	} {
		if _, err := newTrust(o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want %q", o, err, want)
		}
	}
}
