package portal

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"strconv"
	"strings"

	"github.com/webrace/webrace/internal/channel"
	"github.com/webrace/webrace/stages/internal/delivery"
	"github.com/webrace/webrace/storage/control"
)

// mostForFeed is among how many annotations, the latest ones, those of a feed are looked for.
const mostForFeed = 2000

// showFeed answers with a feed of what passes the filter of a channel. Who has its address reads it; neither the answer
// nor what is logged tells whether another address was nearly right. It changes nothing: what is fetched stays unread.
func showFeed(v *visit, store *control.Store) error {
	ctx := v.r.Context()
	c, err := feedOf(ctx, store, v.r.PathValue("name"))
	if err != nil {
		return err
	}
	f := channel.Feed{
		ID: "channel " + strconv.FormatInt(c.N, 10), Title: v.tools.options.Name + ": " + c.Name, Author: v.tools.options.Name,
		Self: v.tools.link(v.r.URL.Path), Link: v.tools.link("/"),
	}
	if f.Entries, err = v.feedEntries(store.Of(c.Owner), c); err != nil {
		return err
	}
	body, err := f.Atom()
	if err != nil {
		return err
	}
	sum := sha256.Sum256(body)
	h := v.w.Header()
	h.Set("Content-Type", "application/atom+xml; charset=utf-8")
	h.Set("ETag", `"`+hex.EncodeToString(sum[:16])+`"`)
	h.Set("Cache-Control", "private, no-cache") // kept, and asked about each time
	http.ServeContent(v.w, v.r, "", f.Updated(), bytes.NewReader(body))
	return nil
}

// feedOf returns the channel that an address of a feed is of, if it is to be had.
func feedOf(ctx context.Context, store *control.Store, name string) (c control.Channel, err error) {
	token, isAtom := strings.CutSuffix(name, ".atom")
	n, is := channel.NumberIn(token)
	if !isAtom || !is {
		return c, control.ErrNotFound
	}
	if c, err = store.Channel(ctx, n); err != nil {
		return c, err
	}
	if !channel.Fetches(token, n, c.Address) || c.Kind != control.ChannelFeed || c.State != control.ChannelActive {
		return c, control.ErrNotFound
	}
	a, err := store.Account(ctx, c.Owner)
	if err == nil && a.State != control.AccountActive {
		err = control.ErrNotFound
	}
	return c, err
}

// feedEntries returns the latest annotations that pass the filter of a channel. What its owner has thrown away is not
// among them.
func (v *visit) feedEntries(mine control.Owned, c control.Channel) (entries []channel.FeedEntry, err error) {
	ctx := v.r.Context()
	s, err := settingsOf(c)
	if err != nil {
		s = channel.Settings{} // as for what is sent: nothing is lost by what cannot be read
	}
	labels := make(map[string][]string)
	if len(s.Filter.Labels) > 0 {
		for u, err := range mine.URDs(ctx) {
			if err != nil {
				return nil, err
			}
			labels[u.ID] = u.Labels
		}
	}
	filter := inboxQuery{}.filter()
	filter.Limit, filter.Urgency = mostForFeed, s.Filter.Urgency
	site := v.tools.link("/")
	for i, err := range mine.Inbox(ctx, filter) {
		if err != nil {
			return nil, err
		}
		e := delivery.EntryOf(i.ACI.ACI, i.Seq, site)
		if e.Labels = labels[i.URD]; s.Passes(e) {
			entries = append(entries, channel.FeedEntry{ID: i.ID, Entry: e})
		}
		if len(entries) == channel.MaxShown {
			break
		}
	}
	return entries, nil
}
