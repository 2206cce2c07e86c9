package httpsign

import (
	"crypto/rand"
	"encoding/base64"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// label is that of our signatures, and of the member of Signature-Agent that they cover.
const label = "sig1"

// Signer signs requests. It is safe for concurrent use.
type Signer struct {
	key   Key
	agent string // quoted
}

// NewSigner returns a signer that names the origin where the directory with the key is, as https://crawler.example.
func NewSigner(key Key, agent string) (*Signer, error) {
	if err := CheckAgent(agent); err != nil {
		return nil, err
	}
	return &Signer{key, `"` + strings.TrimSuffix(agent, "/") + `"`}, nil
}

// CheckAgent returns why a text cannot stand in Signature-Agent: that is an origin of https.
func CheckAgent(agent string) error {
	u, err := url.Parse(agent)
	switch {
	case err != nil || u.Scheme != "https" || u.Hostname() == "" || u.Opaque != "":
	case strings.TrimSuffix(agent, "/") != "https://"+u.Host || strings.ContainsFunc(agent, notInString):
	default:
		return nil
	}
	return fmt.Errorf("%.200q is not https:// and a host alone, as https://crawler.example: the directory is at %s there", agent, DirectoryPath)
}

// notInString is of characters that a string of RFC 9651, section 3.3.3, holds escaped or not at all.
func notInString(r rune) bool { return r <= ' ' || r >= 0x7f || r == '"' || r == '\\' }

// KeyID returns the id of the key.
func (s *Signer) KeyID() string { return s.key.ID() }

// Sign sets the fields Signature-Agent, Signature-Input and Signature of a request to a host, as in its URL. The
// nonce is a new one at each call.
func (s *Signer) Sign(header http.Header, scheme, host string, now time.Time) {
	params := `("@authority" "signature-agent";key="` + label + `")` +
		";created=" + strconv.FormatInt(now.Unix(), 10) +
		";expires=" + strconv.FormatInt(now.Add(Lifetime).Unix(), 10) +
		`;keyid="` + s.key.id + `";alg="` + algorithm + `";nonce="` + rand.Text() + `";tag="` + Tag + `"`
	base := `"@authority": ` + authority(scheme, host) + "\n" +
		`"signature-agent";key="` + label + `": ` + s.agent + "\n" +
		`"@signature-params": ` + params
	header[agentField] = []string{label + "=" + s.agent}
	header[inputField] = []string{label + "=" + params}
	header[signatureField] = []string{label + "=:" + base64.StdEncoding.EncodeToString(s.key.sign([]byte(base))) + ":"}
}

// authority is the derived component @authority (RFC 9421, section 2.2.3).
func authority(scheme, host string) string {
	host = strings.ToLower(host)
	if scheme == "https" {
		return strings.TrimSuffix(host, ":443")
	}
	return strings.TrimSuffix(host, ":80")
}
