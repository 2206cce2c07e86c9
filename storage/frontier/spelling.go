package frontier

import (
	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/urlnorm"
)

// Spellings of a URL that RFC 3986 calls equivalent are one document ([urlnorm.Identity]): it is asked for, stored
// and told of under the spelling that was seen first, because some servers know only that. Records, visits, items and
// leases are found by this spelling. Where it is not the identity itself, as of few URLs, the record of the identity
// holds what it is, and nothing else: no crawl came to that record, and the place of a redirect has the spelling.
//
// What an earlier release knew by such a spelling has no such record yet. It is found by its spelling when a page
// leads to it again, and joined with the others from then on. Where that release knew both the identity and another
// spelling, the document of the identity is the one that goes on.
//
// A server that redirects from one spelling to another tells them apart, against the rule. Then the target counts,
// under its own spelling: a document that was always redirected would never be had.

// spelling returns by which spelling a document is known whose identity has this record; empty for that of the
// identity, or none.
func (r *record) spelling() string {
	if len(r.marks) > 0 {
		return ""
	}
	return r.redirect
}

// isRespelling reports whether a server, or a page, sends a client that asks for one spelling of a URL to another.
func isRespelling(l *webrace.Links, url, identity string) bool {
	return (l.Via == webrace.ViaRedirect || l.Via == webrace.ViaRefresh) && url != l.From && urlnorm.Identity(l.From) == identity
}

// known returns the record of a candidate's document, and gives the candidate the spelling by which that is known.
// Where the record of the identity is to tell that, once a crawl has come to the document, it is returned as well.
func (c *changes) known(cand *candidate) (rec, says *record, err error) {
	root, err := c.record(cand.root)
	if err != nil {
		return nil, nil, err
	}
	switch spelling := root.spelling(); {
	case len(root.marks) > 0 && !cand.respelled:
		cand.id, cand.url = cand.root, cand.identity
	case spelling != "" && !cand.respelled:
		cand.id, cand.url = identify(cand.secret, spelling), spelling
	case spelling != "" || len(root.marks) == 0 && cand.id != cand.root:
		says = root
	}
	if cand.id == cand.root {
		return root, says, nil
	}
	rec, err = c.record(cand.id)
	return rec, says, err
}

// spell notes in the record of an identity by which spelling the document is known that rec is the record of.
func (says *record) spell(rec *record, spelling string) {
	says.dirty = true
	if says == rec { // it said another spelling so far, and becomes that of a document: it counts as a new one
		says.redirect, says.fresh = "", true
		return
	}
	says.redirect = spelling
}

// find returns the record of the document that a URL is a spelling of, and the spelling by which it is known; nil
// if it was never accepted.
func (s *Store) find(k keys, secret, url string) (rec *record, known string, err error) {
	rec, err = s.readRecord(k, identify(secret, url))
	if err != nil || rec != nil && rec.spelling() == "" {
		return rec, url, err
	}
	known = urlnorm.Identity(url)
	if known != url {
		if rec, err = s.readRecord(k, identify(secret, known)); err != nil || rec == nil || rec.spelling() == "" {
			return rec, known, err
		}
	}
	if rec == nil {
		return nil, url, nil
	}
	known = rec.spelling()
	rec, err = s.readRecord(k, identify(secret, known))
	return rec, known, err
}
