package httpclient

import (
	"cmp"
	"errors"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/xmlschema/httprequest"
)

// HeaderOptions determine what hosts are told besides what all are.
type HeaderOptions struct {
	Headers map[string]map[string]pipeline.Secret `toml:"headers" doc:"further header fields of every request to some hosts: headers.\"*.example.org\" = { Accept = \"application/json\" }; where patterns of several lines fit a host, the field of the narrowest is sent"`
}

// validate refuses patterns that fit no host, and fields that cannot be sent, each with its place.
func (o HeaderOptions) validate() error {
	var wrong []error
	for _, pattern := range slices.Sorted(maps.Keys(o.Headers)) {
		refuse := func(option string, err error) {
			wrong = append(wrong, &pipeline.OptionError{Option: "headers." + option, Err: err})
		}
		if _, err := parseHosts([]string{pattern}); err != nil {
			refuse(pattern, err)
		}
		fields, given := o.Headers[pattern], make(map[string]bool)
		for _, name := range slices.Sorted(maps.Keys(fields)) {
			value := fields[name].Reveal()
			err := httprequest.CheckField(name, value)
			if strings.Contains(value, "${secret:") {
				err = errors.New("secrets are named by the <request> of a URD, so that what they open is shown to its owner alone; an option takes a variable, ${NAME}, or what a file holds, ${file:PATH}")
			}
			if canonical := http.CanonicalHeaderKey(name); err == nil && given[canonical] {
				err = errors.New("the header field is given twice, because the case of its name does not count")
			} else {
				given[canonical] = true
			}
			if err != nil {
				refuse(pattern+"."+name, err)
			}
		}
	}
	return errors.Join(wrong...)
}

// hostFields are the fields for hosts that a pattern fits.
type hostFields struct {
	hosts  hosts
	fields http.Header
}

// newHostFields returns the fields by host, the narrowest pattern last.
func newHostFields(o HeaderOptions) (all []hostFields) {
	for pattern, given := range o.Headers {
		parsed, err := parseHosts([]string{pattern})
		if err != nil {
			continue // the options are valid
		}
		fields := make(http.Header, len(given))
		for name, value := range given {
			fields.Set(name, value.Reveal())
		}
		all = append(all, hostFields{parsed, fields})
	}
	slices.SortFunc(all, func(a, b hostFields) int { return compareWidth(a.hosts[0], b.hosts[0]) })
	return all
}

// compareWidth sorts a wider pattern before a narrower one: all hosts, networks, domains, names, and each with a port
// behind the same without.
func compareWidth(a, b hostPattern) int {
	rank := func(p hostPattern) int {
		switch {
		case p.name != "":
			return 3
		case p.under != "":
			return 2
		case p.network.IsValid():
			return 1
		}
		return 0
	}
	return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(len(a.under), len(b.under)), cmp.Compare(a.network.Bits(), b.network.Bits()),
		cmp.Compare(len(a.port), len(b.port)), strings.Compare(a.name+a.under+a.port, b.name+b.under+b.port))
}

// forHost returns the fields that a target's host is told besides; nil for none.
func (c *Client) forHost(t Target) (fields http.Header) {
	if len(c.byHost) == 0 {
		return nil
	}
	host, port := t.hostPort()
	for _, h := range c.byHost {
		if h.hosts.match(host, port) {
			if fields == nil {
				fields = make(http.Header, len(h.fields))
			}
			maps.Copy(fields, h.fields)
		}
	}
	return fields
}
