package storecmd

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"log/slog"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/webrace/webrace/cmd/internal/cli"
	"github.com/webrace/webrace/cmd/internal/remote"
	"github.com/webrace/webrace/pipeline/admin"
	"github.com/webrace/webrace/pipeline/config"
	"github.com/webrace/webrace/storage"
	"github.com/webrace/webrace/storage/cluster"
	"github.com/webrace/webrace/storage/fulltext"
)

// neighbours are three nodes with two partitions each, the first of which searches; the others answer over TLS. The
// page of partition p is http://p.example/, and p has that many words beside tea, so that the pages come in this
// order.
type neighbours struct {
	t      *testing.T
	first  *Node
	where  cluster.Where
	served [3]*neighbour
}

// neighbour is a node that answers.
type neighbour struct {
	node      *Node
	config    *tls.Config
	address   string
	listener  net.Listener
	connected atomic.Int32
	asked     atomic.Int32
	dropsAt   int32 // the request at which it closes the connection; 0: none
	goesAt    int32 // at which it goes away
	stop      func()
}

func newNeighbours(t *testing.T) *neighbours {
	t.Helper()
	shows := writtenCertificate(t)
	of := func(node int) *config.Config { return &config.Config{Cluster: &config.Cluster{Node: node, TLS: shows}} }
	n := &neighbours{t: t, where: cluster.Where{Shape: cluster.Shape{Partitions: 6, Nodes: 3}, Nodes: make([]cluster.Home, 3)}}
	dirs := []map[int]*storage.Dir{{}, {}, {}}
	for p := range n.where.Partitions {
		dir, err := storage.Open(t.TempDir(), storage.Options{})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { dir.Close() })
		index, err := dir.Fulltext()
		if err == nil {
			page := fulltext.Document{URL: fmt.Sprintf("http://%d.example/", p), Version: 1, Body: "tea" + strings.Repeat(" more", p)}
			err = index.Index(t.Context(), []fulltext.Document{page})
		}
		if err != nil {
			t.Fatal(err)
		}
		n.where.Node = append(n.where.Node, p%3)
		dirs[p%3][p] = dir
	}
	where := func(context.Context) (cluster.Where, error) { return n.where, nil }
	for i, of := range []*config.Config{of(0), of(1), of(2)} {
		node := NewNode(&cli.Globals{}, of, dirs[i], where)
		t.Cleanup(node.Close)
		n.where.Nodes[i].Place = fmt.Sprintf("machine-%d.example:/data", i)
		if i == 0 {
			n.first = node
			continue
		}
		secured, err := ClusterTLS(of.Cluster)
		if err != nil {
			t.Fatal(err)
		}
		n.served[i] = &neighbour{node: node, config: secured, address: "127.0.0.1:0"}
		n.served[i].serve(t)
		n.where.Nodes[i].Address = n.served[i].address
	}
	return n
}

func (n *neighbour) serve(t *testing.T) {
	t.Helper()
	listener, err := net.Listen("tcp", n.address)
	if err != nil {
		t.Fatal(err)
	}
	n.address, n.listener = listener.Addr().String(), listener
	searches := n.node.Searches(slog.New(slog.DiscardHandler))
	n.stop = admin.ServeTLS(counting{listener, &n.connected}, n.config, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch n.asked.Add(1) {
		case n.goesAt:
			listener.Close()
			panic(http.ErrAbortHandler)
		case n.dropsAt:
			panic(http.ErrAbortHandler) // closes the connection
		}
		searches.ServeHTTP(w, r)
	}))
	t.Cleanup(n.stop)
}

type counting struct {
	net.Listener
	n *atomic.Int32
}

func (c counting) Accept() (net.Conn, error) {
	conn, err := c.Listener.Accept()
	if err == nil {
		c.n.Add(1)
	}
	return conn, err
}

// writtenCertificate writes a certificate of this machine, which is its own authority.
func writtenCertificate(t testing.TB) config.TLS {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	signed, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: signed})
	text = append(text, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private})...)
	path := filepath.Join(t.TempDir(), "node.pem")
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return config.TLS{Cert: path, Key: path, CA: path}
}

// run has the first node run a command for the whole cluster.
func (n *neighbours) run(args ...string) (status int, out, said string) {
	n.t.Helper()
	var stdout, stderr bytes.Buffer
	call := remote.Call{Cluster: true, In: strings.NewReader(""), Out: &stdout, Err: &stderr}
	call.Args = args
	status = n.first.Answer(n.first.dirs[0])(n.t.Context(), call)
	return status, stdout.String(), stderr.String()
}

// mustFind searches for tea.
func (n *neighbours) mustFind(wantStatus int, of ...int) (said string) {
	n.t.Helper()
	status, out, said := n.run("search", "tea")
	var want, got []string
	for _, p := range of {
		want = append(want, fmt.Sprintf("http://%d.example/", p))
	}
	for line := range strings.Lines(out) {
		if url, _, ok := strings.Cut(strings.TrimSpace(line), "  (score "); ok {
			got = append(got, url)
		}
	}
	if status != wantStatus || !slices.Equal(got, want) {
		n.t.Errorf("the search ends with %d and finds %v, want %d and %v: %s", status, got, wantStatus, want, said)
	}
	return said
}

// A node that goes away is named, with its partitions, whichever round of a search it is in; the rest is found. Those
// of its hits that are known already are shown without their texts.
func TestANodeThatGoesAwayBetweenRoundsIsNamed(t *testing.T) {
	t.Parallel()
	for round, finds := range [][]int{1: {0, 2, 3, 5}, 2: {0, 2, 3, 5}, 3: {0, 1, 2, 3, 4, 5}} {
		if finds == nil {
			continue
		}
		n := newNeighbours(t)
		n.served[1].goesAt = int32(round)
		said := n.mustFind(cli.Environment, finds...)
		if !strings.Contains(said, "node 1 (https://"+n.served[1].address+") cannot be asked: ") || !strings.Contains(said, "missing is what partitions 01 and 04 have") {
			t.Errorf("round %d: %s", round, said)
		}
		if unread := strings.Count(said, "cannot be read: node 1: "); unread != len(finds)-4 {
			t.Errorf("round %d: of %d hits it says that their texts cannot be read: %s", round, unread, said)
		}
		if again := n.mustFind(cli.Environment, 0, 2, 3, 5); !strings.Contains(again, "connection refused") {
			t.Errorf("round %d, the next search: %s", round, again)
		}
	}
}

// The connections of a search are those of the next. One that is gone is not missed, nor is the process that had it.
func TestConnectionsToNodesAreKept(t *testing.T) {
	t.Parallel()
	n := newNeighbours(t)
	for range 5 {
		n.mustFind(cli.OK, 0, 1, 2, 3, 4, 5)
	}
	for i, s := range n.served[1:] {
		if connected, asked := s.connected.Load(), s.asked.Load(); connected != 1 || asked != 15 {
			t.Errorf("node %d is asked %d times over %d connections, want 15 over 1", i+1, asked, connected)
		}
	}
	n.served[1].dropsAt = n.served[1].asked.Load() + 2
	n.served[2].stop()
	n.served[2].serve(t)
	n.mustFind(cli.OK, 0, 1, 2, 3, 4, 5)
}

func TestWhatANodeIsNotAskedItRefuses(t *testing.T) {
	t.Parallel()
	n := newNeighbours(t)
	for _, args := range []string{"cache ls", "search --rebuild", "owner list"} {
		if status, out, said := n.run(strings.Fields(args)...); status == cli.OK || out != "" || !strings.Contains(said, "no command that a node runs for its cluster") {
			t.Errorf("%s for the cluster ends with %d: %q, %s", args, status, out, said)
		}
	}
	for _, of := range []struct {
		part       *remote.Part
		args, says string
	}{
		{nil, "search tea", "for its partitions alone"},
		{&remote.Part{Partition: 1}, "cache ls", "does not have partition 01"},
		{&remote.Part{Partition: 3}, "owner list", "no command that a node runs for others"},
	} {
		var out, said bytes.Buffer
		call := remote.Call{In: strings.NewReader(""), Out: &out, Err: &said}
		call.Args, call.Part = strings.Fields(of.args), of.part
		if status := n.first.AnswerNodes(t.Context(), call); status == cli.OK || out.Len() > 0 || !strings.Contains(said.String(), of.says) {
			t.Errorf("%s of %+v ends with %d: %q, %s", of.args, of.part, status, out.String(), said.String())
		}
	}
	n.where.Node[3] = 1 // as if it had moved there unseen
	if said := n.mustFind(cli.Environment); !strings.Contains(said, "partition 03: node 1 does not have it") {
		t.Errorf("of a partition that a node does not have it says %s", said)
	}
	nobody := http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}
	if response, err := nobody.Post("https://"+n.served[1].address+SearchPath, "", strings.NewReader("{}")); err == nil {
		t.Errorf("who has no certificate is answered %s", response.Status)
	}
}
