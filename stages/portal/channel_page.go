package portal

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/webrace/webrace/internal/channel"
	"github.com/webrace/webrace/storage/control"
)

// channelPage is what is shown of one channel.
type channelPage struct {
	channelRow
	IsNew, IsMail, IsWebhook, IsFeed bool
	Paused, Active, Signed           bool
	Form                             *form
	Feed                             string   // where it is fetched
	Labels                           []string // of interests, to choose from

	Urgencies, Units, Formats, Methods, DigestDays, QuietDays, Mutes []choice
}

// Among returns the field with the values that it may have.
func (f field) Among(choices []choice) field {
	f.Choices = choices
	return f
}

// choicesOf are values to choose from, of which the text of each is that of ABOUT.VALUE.
func choicesOf(f *form, name, about string, values ...string) (all []choice) {
	for _, value := range values {
		all = append(all, newChoice(value, text(about+"."+cmp.Or(value, "none")), f.Is(name, value)))
	}
	return all
}

// weekdays are those of forms, in their order.
var weekdays = []string{"mon", "tue", "wed", "thu", "fri", "sat", "sun"}

// channelPage makes the page of a channel, which is new if it has no number.
func (v *visit) channelPage(mine control.Owned, c control.Channel, f *form) (channelPage, error) {
	ctx := v.r.Context()
	p := channelPage{
		IsNew: c.N == 0, IsMail: c.Kind == control.ChannelMail, IsWebhook: c.Kind == control.ChannelWebhook, IsFeed: c.Kind == control.ChannelFeed,
		Paused: c.State == control.ChannelPaused, Active: c.State == control.ChannelActive, Form: f,
	}
	waiting, err := mine.WaitingEntries(ctx)
	if err != nil {
		return p, err
	}
	p.channelRow = v.channelRow(c, waiting[c.N])
	if s, err := settingsOf(c); err == nil {
		p.Signed = p.IsWebhook && s.Webhook == (channel.Webhook{})
	}
	if token := channel.FeedToken(c.N, c.Address); p.IsFeed && token != "" && c.N > 0 {
		p.Feed = v.tools.link("/feed/" + token + ".atom")
	}
	p.Urgencies = choicesOf(f, "urgency", "channel.urgencies", "0", "2", "3")
	if f.Is("urgency", "1") { // by another program: everything has it
		p.Urgencies = choicesOf(f, "urgency", "channel.urgencies", "0", "1", "2", "3")
	}
	p.Units = choicesOf(f, "hold_unit", "channel.units", "seconds", "minutes", "hours")
	p.Formats = choicesOf(f, "format", "channel.formats", slices.Concat([]string{""}, channel.Presets(), []string{ownFormat})...)
	p.Methods = choicesOf(f, "method", "channel.methods", "", http.MethodPut, http.MethodPatch)
	p.Mutes = choicesOf(f, "hours", "channel.mutes", "1", "8", "24", "168")
	p.DigestDays, p.QuietDays = choicesOf(f, "digest_days", "channel.days", weekdays...), choicesOf(f, "quiet_days", "channel.days", weekdays...)
	p.Labels, err = labelsOf(ctx, mine)
	return p, err
}

// labelsOf returns the labels of the owner's interests.
func labelsOf(ctx context.Context, mine control.Owned) (all []string, err error) {
	for u, err := range mine.URDs(ctx) {
		if err != nil {
			return nil, err
		}
		all = append(all, u.Labels...)
	}
	slices.Sort(all)
	return slices.Compact(all), nil
}

// renderChannel answers with the page of a channel.
func (v *visit) renderChannel(status int, mine control.Owned, c control.Channel, f *form) error {
	p, err := v.channelPage(mine, c, f)
	if err != nil {
		return err
	}
	return v.showTitled(status, "channel", cmp.Or(c.Name, text("channels.add."+string(c.Kind))), p)
}

// showNewChannel shows the form of a new channel.
func showNewChannel(kind control.ChannelKind) func(*visit, control.Owned) error {
	return func(v *visit, mine control.Owned) error {
		s := channel.Settings{Zone: v.profile.Zone}
		if kind != control.ChannelFeed {
			s.Hold = 60 // so that a burst is one message
		}
		f := newForm(settingsForm(s))
		f.values.Set("name", text("channels.kind."+string(kind)))
		if kind == control.ChannelMail {
			f.values.Set("address", v.account.Mail)
		}
		return v.renderChannel(http.StatusOK, mine, control.Channel{Kind: kind}, f)
	}
}

// showChannel shows a channel, with its address in full: it is its owner who sees it.
func showChannel(v *visit, mine control.Owned, c control.Channel) error {
	s, err := settingsOf(c)
	f := newForm(settingsForm(s))
	f.refuseFields(err)
	if err != nil && f.ok() {
		f.wrong("name", "channel.unreadable")
	}
	to, _ := c.Address.Reveal()
	f.values.Set("name", c.Name)
	f.values.Set("address", to)
	return v.renderChannel(http.StatusOK, mine, c, f)
}

// addChannel adds a channel. One by mail is to be confirmed first, whoever's address it is.
func addChannel(kind control.ChannelKind) func(*visit, control.Owned) error {
	return func(v *visit, mine control.Owned) error {
		c := control.Channel{Kind: kind, State: control.ChannelActive}
		f, s, err := v.readChannel(&c)
		if err != nil {
			return err
		}
		if err := mustHaveRoom(v.r.Context(), mine, f); err != nil {
			return err
		}
		if f.ok() {
			if c.N, err = mine.AddChannel(v.r.Context(), c); err != nil {
				if err = nameTaken(f, err); err != nil {
					return err
				}
			}
		}
		switch {
		case !f.ok():
			return v.renderChannel(http.StatusUnprocessableEntity, mine, control.Channel{Kind: kind}, f)
		case kind == control.ChannelMail:
			return v.confirmFirst(mine, c)
		case kind == control.ChannelWebhook && s.Webhook == (channel.Webhook{}):
			return v.showKey(c)
		}
		return v.see(pathOf(c), "channel_added")
	}
}

// changeChannel changes a channel. A mail address that is another is to be confirmed again, and mails to the one before
// stop nothing any more.
func changeChannel(v *visit, mine control.Owned, c control.Channel) error {
	stored, was := c, c.State
	f, _, err := v.readChannel(&c)
	if err != nil {
		return err
	}
	if f.ok() {
		if err := mine.ChangeChannel(v.r.Context(), c); err != nil {
			if err = nameTaken(f, err); err != nil {
				return err
			}
		}
	}
	switch {
	case !f.ok():
		return v.renderChannel(http.StatusUnprocessableEntity, mine, stored, f)
	case c.State == control.ChannelUnconfirmed && (was != c.State || c.Address != stored.Address):
		return v.confirmFirst(mine, c)
	}
	return v.see(pathOf(c), "channel_saved")
}

func pathOf(c control.Channel) string { return "/channels/" + numberPath(c.N) }

// nameTaken reports so at the field, if that is what an error is of; others it returns.
func nameTaken(f *form, err error) error {
	var taken *control.TakenError
	if !errors.As(err, &taken) {
		return err
	}
	f.wrong("name", "channel.taken")
	return nil
}

// mustHaveRoom refuses one channel too many.
func mustHaveRoom(ctx context.Context, mine control.Owned, f *form) error {
	count := 0
	for _, err := range mine.Channels(ctx) {
		if err != nil {
			return err
		}
		count++
	}
	if count >= control.MostChannels {
		f.wrong("name", "channels.full", control.MostChannels)
	}
	return nil
}

// The most bytes of what is typed. A name is shown in lists, and an address is one of the web, or of a mailbox.
const (
	mostOfChannelName = 100
	mostOfURL         = 2000
)

// readChannel reads what was typed into a channel, and reports what is wrong with it.
func (v *visit) readChannel(c *control.Channel) (*form, channel.Settings, error) {
	f, err := v.form()
	if err != nil {
		return nil, channel.Settings{}, err
	}
	s := readSettings(f, c.Kind)
	if c.Name = f.line("name"); c.Name == "" || len(c.Name) > mostOfChannelName || strings.ContainsFunc(c.Name, func(r rune) bool { return r < ' ' || r == 0x7f }) {
		f.wrong("name", "channel.wrong_name", mostOfChannelName)
	}
	to, key := c.Address.Reveal()
	typed := f.line("address")
	switch c.Kind {
	case control.ChannelMail:
		if !isMailAddress(typed) {
			f.wrong("address", "forgot.wrong")
		}
		if typed != to {
			key, c.State = "", control.ChannelUnconfirmed
		}
	case control.ChannelWebhook:
		checkWebhookURL(f, typed)
		if f.ok() {
			checkRequest(f, s.Webhook, typed)
		}
	case control.ChannelFeed:
		typed = ""
	}
	c.Address, c.Settings = channel.NewAddress(typed, cmp.Or(key, rand.Text())), encodeSettings(s)
	return f, s, nil
}

// checkWebhookURL refuses what is no address on the web, or holds a password where it is easily shown. Whether it is
// one of a private network is seen when it is dialled.
func checkWebhookURL(f *form, address string) {
	u, err := url.Parse(address)
	switch {
	case err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" || len(address) > mostOfURL:
		f.wrong("address", "channel.wrong_url")
	case u.User != nil:
		f.wrong("address", "channel.wrong_user")
	}
}

// checkRequest refuses an address that is none of the service which is chosen, and a template that can write nothing.
func checkRequest(f *form, hook channel.Webhook, address string) {
	if _, err := testSaid("").Request(hook, address); err != nil {
		name := "address"
		if hook.Body != "" {
			name = "body"
		}
		f.wrongText(name, err.Error())
	}
}
