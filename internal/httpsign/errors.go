package httpsign

import "errors"

// Why a request is refused. What [Verifier.Verify] returns wraps one of them.
var (
	ErrUnsigned  = errors.New("the request is not signed")
	ErrMalformed = errors.New("the signature is malformed")
	ErrTag       = errors.New("no signature has the tag " + Tag)
	ErrAmbiguous = errors.New("more than one signature has the tag " + Tag)
	ErrUncovered = errors.New("the signature does not cover enough")
	ErrComponent = errors.New("the signature covers what is not known, or not in the request")
	ErrParameter = errors.New("a parameter of the signature is missing, or of another type")
	ErrAlgorithm = errors.New("the algorithm of the signature is not " + algorithm)
	ErrKey       = errors.New("the key of the signature is not known")
	ErrFuture    = errors.New("the signature is of the future")
	ErrExpired   = errors.New("the signature has expired")
	ErrLifetime  = errors.New("the signature would hold for too long")
	ErrSignature = errors.New("the signature is wrong")
	ErrReplayed  = errors.New("the signature has been used before")
	ErrBusy      = errors.New("too many signatures are remembered")
)
