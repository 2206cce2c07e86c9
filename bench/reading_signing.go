package main

import (
	"errors"
	"net/http"
	"time"

	"github.com/webrace/webrace/internal/httpsign"
)

// signingLimit is how many µs of CPU time a signature may take.
const signingLimit = 60

// benchSigning signs requests as fetch does.
func benchSigning(b *bench) error {
	signer, err := httpsign.NewSigner(httpsign.NewKey(), "https://crawler.example.org/")
	if err != nil {
		return err
	}
	const requests = 20_000
	costs, err := race(3, []contestant{{"signing", func() error {
		for range requests {
			header := make(http.Header, 3)
			signer.Sign(header, "https", "example.org", time.Now())
			if header.Get("Signature") == "" {
				return errors.New("a request is not signed")
			}
		}
		return nil
	}}})
	if err != nil {
		return err
	}
	each := float64(best(costs["signing"], cpuOf).Nanoseconds()) / requests / 1000
	b.table.value("signing a request, CPU min", each, "µs", atMost(signingLimit))
	return nil
}
