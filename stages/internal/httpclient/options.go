package httpclient

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/webrace/webrace/pipeline"
)

// Options are those that a stage passes on to its users.
type Options struct {
	HeaderOptions
	ConnectionOptions
	TLSOptions
	ProxyOptions
	DNSOptions
	PaceOptions
}

// Defaults are the options of a client that is told nothing else.
var Defaults = Options{
	ConnectionOptions: ConnectionOptions{HTTP2: "off", IPFamily: "any"},
	TLSOptions:        TLSOptions{TLSMinVersion: "1.2"},
	DNSOptions:        defaultDNS,
	PaceOptions:       defaultPace,
}

// Validate refuses options that cannot work, with a [pipeline.OptionError].
func (o Options) Validate() error {
	return cmp.Or(
		o.HeaderOptions.validate(),
		o.ConnectionOptions.validate(),
		o.TLSOptions.validate(),
		o.ProxyOptions.validate(),
		o.DNSOptions.validate(),
		o.PaceOptions.validate(),
	)
}

// optionIsNone is the error that an option has to be one of a few words.
func optionIsNone(option, value string, words ...string) error {
	return &pipeline.OptionError{Option: option, Err: fmt.Errorf("%q is none of %s", value, strings.Join(words, ", "))}
}
