package httpin

import (
	"crypto/ed25519"
	"net/http"

	"github.com/webrace/webrace/internal/httpsign"
	"github.com/webrace/webrace/pipeline"
)

// keys returns the public keys with which requests have to be signed.
func (o Options) keys() (all []ed25519.PublicKey, err error) {
	for _, x := range o.SignedBy {
		key, err := httpsign.ParsePublic(x)
		if err != nil {
			return nil, &pipeline.OptionError{Option: "signed_by", Err: err}
		}
		all = append(all, key)
	}
	return all, nil
}

// newVerifier returns what verifies requests; nil if they need not be signed.
func newVerifier(o Options) (*httpsign.Verifier, error) {
	keys, err := o.keys()
	if err != nil || len(keys) == 0 {
		return nil, err
	}
	return httpsign.NewVerifier(keys...), nil
}

// signed returns the answer to a request that is not signed as it has to be; nil if it is. A signature counts once, so
// this comes after the token; a request that is refused later for another reason has to be signed anew.
func (s *stage) signed(r *http.Request) *reply {
	if s.verifier == nil {
		return nil
	}
	if _, err := s.verifier.Verify(r); err != nil {
		return refuse(http.StatusForbidden, "%v: requests are to be signed by HTTP Message Signatures (RFC 9421) with a key of the option signed_by", err)
	}
	return nil
}
