package portal

import (
	"net/http"
	"net/url"
	"strconv"

	"github.com/webrace/webrace/storage/control"
)

// inDeliveries is how many messages a page has.
const inDeliveries = 50

// deliveriesPage is what is shown of messages.
type deliveriesPage struct {
	Stopped      []channelRow // channels on which nothing is sent any more
	Waiting      []channelRow // channels for which something waits
	Rows         []deliveryRow
	Newer, Older string // links; empty: there are none
	Here         string
}

// deliveryRow is a message in a list.
type deliveryRow struct {
	ID, State, Said, When, Again string
	Channel                      channelRow
	Attempts, Entries            int
	Dead, Waits                  bool
}

// showDeliveries shows what was sent, and what waits, the latest first.
func showDeliveries(v *visit, mine control.Owned) error {
	ctx := v.r.Context()
	number, _ := strconv.Atoi(v.r.URL.Query().Get("page"))
	number = min(max(number, 1), 10_000)
	p := deliveriesPage{Here: deliveriesLink(number)}
	channels, err := p.readChannels(v, mine)
	if err != nil {
		return err
	}
	skip := (number - 1) * inDeliveries
	var ids []string
	for m, err := range mine.Messages(ctx) {
		if err != nil {
			return err
		}
		if skip--; skip >= 0 {
			continue
		}
		if len(p.Rows) == inDeliveries {
			p.Older = deliveriesLink(number + 1)
			break
		}
		p.Rows = append(p.Rows, v.deliveryRow(m, channels[m.Channel]))
		ids = append(ids, m.ID)
	}
	if number > 1 {
		p.Newer = deliveriesLink(number - 1)
	}
	counts, err := mine.EntriesIn(ctx, ids...)
	if err != nil {
		return err
	}
	for i, row := range p.Rows {
		p.Rows[i].Entries = counts[row.ID]
	}
	return v.show(http.StatusOK, "deliveries", p)
}

func deliveriesLink(page int) string {
	if page <= 1 {
		return "/deliveries"
	}
	return "/deliveries?page=" + strconv.Itoa(page)
}

// readChannels reads the channels, by their numbers, and finds those that are stopped, or have something waiting.
func (p *deliveriesPage) readChannels(v *visit, mine control.Owned) (map[int64]channelRow, error) {
	waiting, err := mine.WaitingEntries(v.r.Context())
	if err != nil {
		return nil, err
	}
	all := make(map[int64]channelRow)
	for c, err := range mine.Channels(v.r.Context()) {
		if err != nil {
			return nil, err
		}
		row := v.channelRow(c, waiting[c.N])
		all[c.N] = row
		if row.Stopped {
			p.Stopped = append(p.Stopped, row)
		}
		if row.Waiting > 0 {
			p.Waiting = append(p.Waiting, row)
		}
	}
	return all, nil
}

func (v *visit) deliveryRow(m control.Message, c channelRow) deliveryRow {
	row := deliveryRow{
		ID: url.PathEscape(m.ID), State: text("deliveries.state." + string(m.State)), Said: m.Said, When: v.moment(m.Created), Channel: c, Attempts: m.Attempts,
		Dead: m.State == control.MessageDead, Waits: m.State == control.MessageWaits,
	}
	switch {
	case !m.Ended.IsZero():
		row.When = v.moment(m.Ended)
	case m.Due.After(v.tools.now()):
		row.Again = v.moment(m.Due)
	}
	return row
}

// sendAgain has a message sent that was given up.
func sendAgain(v *visit, mine control.Owned) error {
	f, err := v.form()
	if err != nil {
		return err
	}
	if err := mine.SendAgain(v.r.Context(), v.r.PathValue("id")); err != nil {
		return err
	}
	to := back(f.Value("to"))
	if to == "/" {
		to = "/deliveries"
	}
	return v.see(to, "sent_again")
}
