package httpout

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// signatureField tells when a request was made, and proves that it was made by a sender that knows the secret:
//
//	X-Webrace-Signature: t=1795276800,v1=5257a869e7…
//
// t is the time in seconds since 1970, v1 the HMAC-SHA256, in hexadecimal, of t as it is written, a dot, and
// the body. Fields of other names may be added.
const signatureField = "X-Webrace-Signature"

func sign(secret string, at time.Time, body []byte) string {
	t := strconv.FormatInt(at.Unix(), 10)
	return "t=" + t + ",v1=" + hex.EncodeToString(mac(secret, t, body))
}

func mac(secret, t string, body []byte) []byte {
	h := hmac.New(sha256.New, []byte(secret))
	h.Write([]byte(t + "."))
	h.Write(body)
	return h.Sum(nil)
}

// Errors of [Verify].
var (
	ErrSignature = errors.New("the signature is wrong")
	ErrTooOld    = errors.New("the signature is of another time")
)

// Verify is for receivers: it checks that a request with this value of the field X-Webrace-Signature and this
// body was made by a sender that knows the secret, no more than a tolerance before or after now, so that what
// was overheard cannot be sent again much later.
func Verify(secret, signature string, body []byte, now time.Time, tolerance time.Duration) error {
	var t string
	var given []byte
	for part := range strings.SplitSeq(signature, ",") {
		name, value, _ := strings.Cut(part, "=")
		switch name {
		case "t":
			t = value
		case "v1":
			given, _ = hex.DecodeString(value) // nothing else is equal to what is wanted
		}
	}
	seconds, err := strconv.ParseInt(t, 10, 64)
	if err != nil {
		return fmt.Errorf("%w: it has no time", ErrSignature)
	}
	if !hmac.Equal(given, mac(secret, t, body)) {
		return ErrSignature
	}
	if off := now.Sub(time.Unix(seconds, 0)).Abs(); off > tolerance {
		return fmt.Errorf("%w: %v from now", ErrTooOld, off)
	}
	return nil
}
