package customers

import (
	"cmp"
	"slices"
	"strings"

	"example.com/loyalty/core"
	"example.com/loyalty/core/customer"
	"example.com/loyalty/core/merging"
	"example.com/loyalty/views/format"
	"example.com/loyalty/views/panel"
	"example.com/loyalty/views/ui"
)

// MergePreview asks before a duplicate is merged.
type MergePreview struct {
	panel.Frame
	merging.Preview
	FormKey string
	Problem *ui.Problem // why it can't be done; nil if it can
}

// mergeRow compares a value of both customers, and says the one that remains.
type mergeRow struct{ label, kept, merged, result string }

// rows compare two customers. Of most fields, the kept customer's value remains.
func (v MergePreview) rows() []mergeRow {
	kept, merged := v.Kept, v.Merged
	mails := mailsOf(kept)
	if merged.UnsubscribedAt != nil {
		mails = mailsOf(merged)
	}
	status := panel.CustomerStatus(kept.Customer).Label
	rows := []mergeRow{
		{"Points", format.Number(kept.PointsBalance), format.Number(merged.PointsBalance), format.Number(v.Points)},
		{"Stamps", format.Number(kept.StampsBalance), format.Number(merged.StampsBalance), format.Number(v.Stamps)},
		{"Name", format.CustomerName(kept.Customer), format.CustomerName(merged.Customer), format.CustomerName(kept.Customer)},
		{"Phone", cmp.Or(kept.Phone, "–"), cmp.Or(merged.Phone, "–"), cmp.Or(kept.Phone, merged.Phone, "–")},
		{"E-mail", orDash(kept.Email), orDash(merged.Email), orDash(cmp.Or(kept.Email, merged.Email))},
	}
	if kept.ExternalID != nil || merged.ExternalID != nil {
		rows = append(rows, mergeRow{"External ID", orDash(kept.ExternalID), orDash(merged.ExternalID), orDash(cmp.Or(kept.ExternalID, merged.ExternalID))})
	}
	if kept.Birthday != nil || merged.Birthday != nil {
		rows = append(rows, mergeRow{"Birthday", format.Birthday(kept.Birthday), format.Birthday(merged.Birthday), format.Birthday(cmp.Or(kept.Birthday, merged.Birthday))})
	}
	return append(rows, []mergeRow{
		{"Also found by", joined(furtherKeys(kept)), joined(furtherKeys(merged)), joined(v.keysAfter())},
		{"Coupon e-mails", mailsOf(kept), mailsOf(merged), mails},
		{"Status", status, panel.CustomerStatus(merged.Customer).Label, status},
		{"Note", orDash(kept.Note), orDash(merged.Note), orDash(cmp.Or(kept.Note, merged.Note))},
		{"Tags", joined(kept.Tags), joined(merged.Tags), joined(v.tagsAfter())},
	}...)
}

func orDash(text *string) string { return cmp.Or(core.OrZero(text), "–") }

func joined(texts []string) string { return cmp.Or(strings.Join(texts, ", "), "–") }

func mailsOf(c customer.Profile) string {
	if c.UnsubscribedAt != nil {
		return "Unsubscribed"
	}
	return "Subscribed"
}

// furtherKeys are the phone numbers, e-mail addresses and external IDs by which a customer is also found.
func furtherKeys(c customer.Profile) (texts []string) {
	for _, f := range c.Further {
		texts = append(texts, f.Text)
	}
	return texts
}

// keysAfter are the further keys after the merge: those of both, and what the duplicate was found by.
func (v MergePreview) keysAfter() []string {
	keys := furtherKeys(v.Kept)
	if v.Kept.Phone != "" && v.Merged.Phone != "" {
		keys = append(keys, v.Merged.Phone)
	}
	keys = append(keys, furtherKeys(v.Merged)...)
	if v.Kept.Email != nil && v.Merged.Email != nil {
		keys = append(keys, *v.Merged.Email)
	}
	if v.Kept.ExternalID != nil && v.Merged.ExternalID != nil {
		keys = append(keys, *v.Merged.ExternalID)
	}
	return keys
}

// tagsAfter are the tags of both, up to the limit.
func (v MergePreview) tagsAfter() []string {
	tags := slices.Clone(v.Kept.Tags)
	for _, tag := range v.Merged.Tags {
		known := slices.ContainsFunc(v.Kept.Tags, func(kept string) bool { return core.Fold(kept) == core.Fold(tag) })
		if !known && len(tags) < customer.MaxTags {
			tags = append(tags, tag)
		}
	}
	return tags
}

// moved are the figures that the kept customer gets.
func (v MergePreview) moved() []ui.Pair {
	return []ui.Pair{
		{Name: "Sales", Value: profileCount(v.Merged.Sales)},
		{Name: "Lifetime spend", Value: v.Money(v.Merged.SpentCents)},
		{Name: "Redemptions", Value: profileCount(v.Merged.Redemptions)},
		{Name: "Vouchers", Value: profileCount(v.Merged.Vouchers)},
	}
}

// MergedTimeline is the timeline of a customer before they were merged.
type MergedTimeline struct {
	panel.Frame
	Kept     customer.Customer
	All      []customer.MergedCustomer // into the kept one
	Shown    *customer.MergedCustomer  // nil: there are none
	Timeline Timeline
}

func mergedName(m customer.MergedCustomer) string {
	return format.StoredName(m.FirstName + " " + m.LastName)
}
