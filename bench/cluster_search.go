package main

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
)

const (
	searchedNodes = 4
	searchLimit   = 3
)

// searches measures what a search takes of a cluster whose nodes run, beside one index of the same documents. Each is
// asked by webrace-store, of which what it takes to start is left out; what they answer must be the same.
func (c *clusterCrawl) searches(b *bench) error {
	pages, rounds := 20, 5
	if b.quick {
		pages, rounds = 4, 2
	}
	f, err := startFarm(mostPartitions, clusterHosts, pages, 0)
	if err != nil {
		return err
	}
	defer f.stop()
	one, err := c.searched(f, 0, 1)
	if err != nil {
		return err
	}
	defer one.end()
	near, err := c.searched(f, mostPartitions, searchedNodes)
	if err != nil {
		return err
	}
	defer near.end()
	searches := make([][]string, 0, 40)
	for n := range cap(searches) {
		w := f.words
		searches = append(searches, [][]string{{w[n]}, {w[n], w[2*n+50]}, {`"` + w[n] + " " + w[n+1] + `"`}, {"regatta", w[n]}}[n%4])
	}
	took, err := c.timed(searches, rounds, one, near)
	if err != nil {
		return err
	}
	if err := near.apart(); err != nil {
		return err
	}
	apart, err := c.timed(searches, rounds, one, near)
	if err != nil {
		return err
	}
	name := fmt.Sprintf("search, %d partitions on %d nodes", mostPartitions, searchedNodes)
	for _, row := range []struct {
		name string
		took searchTimes
	}{{name + ", p50, wall", apart}, {name + " of this machine, p50, wall", took}} {
		b.table.against(row.name, micros(row.took.cluster-row.took.starting)/1000, "ms", "one index", micros(row.took.one-row.took.starting)/1000, atMost(searchLimit))
		b.note("%s: with starting webrace-store, which takes %.1f ms, %.1f, beside %.1f of one index", row.name,
			micros(row.took.starting)/1000, micros(row.took.cluster)/1000, micros(row.took.one)/1000)
	}
	return nil
}

// searchedProcesses run the pipeline search, and are asked.
type searchedProcesses struct {
	crawlers
	running []*exec.Cmd
}

// searched crawls a farm, and has running what answers searches of its documents.
func (c *clusterCrawl) searched(f *farm, partitions, nodes int) (s *searchedProcesses, err error) {
	s = new(searchedProcesses)
	if s.crawlers, err = c.processes(f, partitions, nodes, "search"); err != nil {
		return nil, err
	}
	if partitions > 0 {
		if err := s.reachable(); err != nil {
			return nil, err
		}
	}
	if _, err := c.crawl(f, s.crawlers); err != nil {
		return nil, err
	}
	for i, config := range s.configs {
		command := exec.Command(c.program, "search", "--continuous", "--config", config)
		if err := command.Start(); err != nil {
			return nil, errors.Join(err, s.end())
		}
		s.running = append(s.running, command)
		sockets := []string{filepath.Join(s.data[i], "webrace.sock")}
		for p := i; p < partitions; p += nodes {
			sockets = append(sockets, filepath.Join(s.data[i], "partitions", fmt.Sprintf("%02d", p), "webrace.sock"))
		}
		for _, socket := range sockets {
			if err := awaitFile(socket); err != nil {
				return nil, errors.Join(err, s.end())
			}
		}
	}
	return s, nil
}

func awaitFile(path string) error {
	for began := time.Now(); time.Since(began) < time.Minute; time.Sleep(10 * time.Millisecond) {
		if _, err := os.Lstat(path); err == nil {
			return nil
		}
	}
	return fmt.Errorf("%s was not there for a minute", path)
}

// end ends what runs.
func (s *searchedProcesses) end() (err error) {
	for _, command := range s.running {
		err = errors.Join(err, end(command))
	}
	return err
}

// reachable gives nodes addresses, and one certificate, which is its own authority.
func (s *searchedProcesses) reachable() error {
	certificate := filepath.Join(filepath.Dir(s.configs[0]), "node.pem")
	if err := writeCertificate(certificate); err != nil {
		return err
	}
	for _, config := range s.configs {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return err
		}
		address := l.Addr().String()
		l.Close()
		text, err := os.ReadFile(config)
		if err != nil {
			return err
		}
		more := fmt.Sprintf("[cluster]\naddress = \"https://%s\"\ntls = { cert = %[2]q, key = %[2]q, ca = %[2]q }\n", address, certificate)
		text = bytes.Replace(text, []byte("[cluster]\n"), []byte(more), 1)
		if err := os.WriteFile(config, text, 0o600); err != nil {
			return err
		}
	}
	return nil
}

// writeCertificate writes a certificate of this machine and its key.
func writeCertificate(path string) error {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true,
		KeyUsage:    x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	signed, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		return err
	}
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return err
	}
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: signed})
	text = append(text, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret})...)
	return os.WriteFile(path, text, 0o600)
}

// apart makes the nodes ones on machines of their own, as far as they are asked.
func (s *searchedProcesses) apart() error {
	ctx := context.Background()
	conn, err := pgx.Connect(ctx, s.database)
	if err != nil {
		return err
	}
	defer conn.Close(ctx)
	_, err = conn.Exec(ctx, `UPDATE webrace.node SET place = 'machine-' || i || '.example:/data'`)
	return err
}

// searchTimes are medians of what webrace-store takes from start to end.
type searchTimes struct{ starting, one, cluster time.Duration }

// timed asks one index and a cluster, by the configuration of its first node, in turn. They must find the same.
func (c *clusterCrawl) timed(searches [][]string, rounds int, one, all *searchedProcesses) (medians searchTimes, err error) {
	var starting, ofOne, ofAll []time.Duration
	for range rounds {
		for _, words := range searches {
			nothing, _, startErr := c.ask("store", "--version")
			took, want, oneErr := c.search(one, words)
			tookAll, got, allErr := c.search(all, words)
			if err := errors.Join(startErr, oneErr, allErr); err != nil {
				return medians, err
			}
			if len(want) == 0 || !slices.Equal(got, want) {
				return medians, fmt.Errorf("search %s: the cluster finds %v, one index %v", strings.Join(words, " "), got, want)
			}
			starting, ofOne, ofAll = append(starting, nothing), append(ofOne, took), append(ofAll, tookAll)
		}
	}
	for _, times := range [][]time.Duration{starting, ofOne, ofAll} {
		slices.Sort(times)
	}
	return searchTimes{percentile(starting, 50), percentile(ofOne, 50), percentile(ofAll, 50)}, nil
}

func (c *clusterCrawl) search(s *searchedProcesses, words []string) (took time.Duration, found []foundPage, err error) {
	took, out, err := c.ask(append([]string{"store", "search", "--json", "--config", s.configs[0], "--"}, words...)...)
	for decoder := json.NewDecoder(bytes.NewReader(out)); err == nil && decoder.More(); {
		var hit foundPage
		err = decoder.Decode(&hit)
		found = append(found, hit)
	}
	return took, found, err
}

// foundPage is a hit, but for when it was found.
type foundPage struct {
	URL, Title string
	Score      float64
}

// ask runs the program, and returns how long it took and what it prints.
func (c *clusterCrawl) ask(args ...string) (time.Duration, []byte, error) {
	command := exec.Command(c.program, args...)
	var said bytes.Buffer
	command.Stderr = &said
	began := time.Now()
	out, err := command.Output()
	if err != nil {
		err = fmt.Errorf("%s: %w\n%s", strings.Join(args, " "), err, said.String())
	}
	return time.Since(began), out, err
}
