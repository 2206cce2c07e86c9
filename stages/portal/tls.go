package portal

import (
	"crypto/tls"
	"fmt"
	"os"
	"sync"
	"time"
)

// certificate is the pair of files that TLS is spoken with. A renewed one is read when the next client comes.
type certificate struct {
	certFile, keyFile string

	mu      sync.Mutex
	read    time.Time // when the files were changed that it was read from
	current *tls.Certificate
}

// tls returns the certificate; nil if a proxy speaks TLS, or nobody.
func (o Options) tls() (*certificate, error) {
	if o.CertFile == "" {
		return nil, nil
	}
	c := &certificate{certFile: o.CertFile, keyFile: o.KeyFile}
	_, err := c.get(nil)
	return c, err
}

// config is what a server speaks TLS by; nil for none.
func (c *certificate) config() *tls.Config {
	if c == nil {
		return nil
	}
	return &tls.Config{GetCertificate: c.get, MinVersion: tls.VersionTLS12}
}

// get returns the certificate as the files have it. One that cannot be read leaves the one before.
func (c *certificate) get(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	stat, err := os.Stat(c.certFile)
	if err == nil && (c.current == nil || !stat.ModTime().Equal(c.read)) {
		var pair tls.Certificate
		if pair, err = tls.LoadX509KeyPair(c.certFile, c.keyFile); err == nil {
			c.current, c.read = &pair, stat.ModTime()
		}
	}
	if c.current == nil {
		return nil, fmt.Errorf("read the certificate %s with the key %s: %w", c.certFile, c.keyFile, err)
	}
	return c.current, nil
}
