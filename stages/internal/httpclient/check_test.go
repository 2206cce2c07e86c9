package httpclient

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"testing"
	"time"

	"github.com/webrace/webrace/pipeline"
)

func TestCheckFindsACertificateThatDoesNotHold(t *testing.T) {
	t.Parallel()
	day := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	c := &Client{transports: &transports{trust: &trust{}}}
	c.transports.options.ClientCert = "me.pem"
	c.transports.trust.certificate = append(c.transports.trust.certificate, tls.Certificate{
		Leaf: &x509.Certificate{NotBefore: day, NotAfter: day.AddDate(1, 0, 0)},
	})
	for at, want := range map[time.Time]string{
		day.AddDate(0, 6, 0):  "",
		day.AddDate(2, 0, 0):  "client_cert: me.pem has expired on 2027-03-01",
		day.AddDate(-1, 0, 0): "client_cert: me.pem holds from 2026-03-01 on",
	} {
		err := c.checkCertificate(at)
		var option *pipeline.OptionError
		if got := ""; err != nil {
			got = err.Error()
			if got != want || !errors.As(err, &option) {
				t.Errorf("at %v: %q, want %q", at, got, want)
			}
		} else if want != "" {
			t.Errorf("at %v nothing is found, want %q", at, want)
		}
	}
}
