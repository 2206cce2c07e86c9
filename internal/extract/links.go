package extract

import (
	"errors"

	"github.com/webrace/webrace/internal/urlnorm"
)

// link resolves a reference and adds it to the links, or counts why not.
func (x *extraction) link(ref []byte, noFollow bool) {
	x.Candidates++
	if noFollow && !x.opts.IgnoreNoFollow {
		x.Refused.NoFollow++
		return
	}
	var err error
	if x.url, err = x.base.Append(x.url[:0], ref); err != nil {
		if errors.Is(err, urlnorm.ErrScheme) {
			x.Refused.Scheme++
		} else {
			x.Refused.Invalid++
		}
		return
	}
	if !x.opts.Rules.IsZero() {
		x.url = append(x.url[:0], x.opts.Rules.Apply(string(x.url))...)
	}
	if _, ok := x.seen[string(x.url)]; ok {
		x.Repeated++
		return
	}
	if len(x.Links) >= x.opts.MaxLinks {
		x.Refused.Limit++
		return
	}
	u := string(x.url)
	x.seen[u] = struct{}{}
	x.Links = append(x.Links, u)
}
