package admin

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// Connections that drip hold up neither others nor the process: each is cut when its time is over.
func TestEndpointCutsAClientThatDrips(t *testing.T) {
	t.Parallel()
	reading := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/endless" { // what nobody reads
			for chunk := make([]byte, 1<<20); ; {
				if _, err := w.Write(chunk); err != nil {
					return
				}
			}
		}
		_, err := io.Copy(io.Discard, r.Body)
		fmt.Fprint(w, err == nil)
	})
	server := newServer(reading)
	for _, d := range []*time.Duration{&server.ReadHeaderTimeout, &server.ReadTimeout, &server.WriteTimeout, &server.IdleTimeout} {
		if *d <= 0 || *d > 2*time.Minute {
			t.Errorf("a limit is %v", *d)
		}
		*d = 300 * time.Millisecond
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer serve(listener, server)()
	ended := make(chan string)
	drips := []string{
		"GET / HTTP/1.1\r\nHost: x\r\nA: ",
		"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\n",
		"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nF4240\r\n",
		"GET /endless HTTP/1.1\r\nHost: x\r\n\r\n",
		"",
	}
	for _, begin := range drips {
		go func() { ended <- drip(listener.Addr().String(), begin) }()
	}
	for range drips {
		select {
		case said := <-ended:
			if strings.Contains(said, "true") {
				t.Errorf("the server was satisfied: %q", said)
			}
		case <-time.After(20 * time.Second):
			t.Fatal("a connection that drips is open still")
		}
	}
	big, err := http.NewRequest("GET", "http://"+listener.Addr().String()+"/", nil)
	if err != nil {
		t.Fatal(err)
	}
	big.Header.Set("A", strings.Repeat("a", 2*longestHeader))
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	if answer, err := client.Do(big); err != nil || answer.StatusCode != http.StatusRequestHeaderFieldsTooLarge {
		t.Errorf("a huge header: %v, %v", answer, err)
	} else {
		answer.Body.Close()
	}
}

// drip sends a beginning, and then a byte now and then until the connection is cut; it returns what was answered.
func drip(address, begin string) string {
	conn, err := net.Dial("tcp", address)
	if err != nil {
		return err.Error()
	}
	defer conn.Close()
	for _, err = io.WriteString(conn, begin); err == nil && begin != ""; time.Sleep(20 * time.Millisecond) {
		_, err = io.WriteString(conn, "a")
	}
	said, _ := io.ReadAll(io.LimitReader(conn, 1000))
	return string(said)
}

// Every server of the program is bounded: made by [Serve], or with limits of its own for all that [Serve] limits.
func TestEveryServerIsBounded(t *testing.T) {
	t.Parallel()
	err := filepath.WalkDir("../..", func(path string, e os.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case e.IsDir() && (e.Name() == ".git" || e.Name() == "bench" || e.Name() == "hostile" || e.Name() == "testdata"):
			return filepath.SkipDir // benchmarks and what tests serve
		case !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go"):
			return nil
		}
		source, err := os.ReadFile(path)
		for _, made := range []string{"new(http.Server)", "http.ListenAndServe", "http.Serve("} {
			if strings.Contains(string(source), made) {
				t.Errorf("%s has %s, which has no limits: admin.Serve has", path, made)
			}
		}
		if !strings.Contains(string(source), "http.Server{") {
			return err
		}
		for _, limit := range []string{"ReadHeaderTimeout:", "ReadTimeout:", "WriteTimeout:", "IdleTimeout:", "MaxHeaderBytes:"} {
			if !strings.Contains(string(source), limit) {
				t.Errorf("%s makes a server without %s", path, strings.Trim(limit, ":"))
			}
		}
		if !strings.Contains(string(source), "connections.Process()") {
			t.Errorf("%s makes a server without a limit of connections", path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
