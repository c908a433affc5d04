package customer

import (
	"context"
	"errors"
	"slices"

	"example.com/loyalty/core"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/ledger"
	"example.com/loyalty/core/usage"
)

// Request is a request to upsert a customer that is sent together with others.
type Request struct {
	New
	Once *core.Once[Upserted]
}

// Batches of a business go one after the other: so none locks what another waits for, and each counts the customers of those before.
// Those of one process wait in a line, without a connection.
const lockBatchSQL = `
	select pg_advisory_xact_lock(hashtextextended('customers together ' || @tenant_id::bigint::text, 9))`

const settingsSQL = `
	select coalesce(country, '') as country, phone_optional
	from loyalty.tenant
	where id = @tenant_id`

// UpsertEach does for each request what Upsert does, in their order: all in one transaction, and the few alone whose customer another
// request writes at the same time. Of requests for the same person, the first may create the customer, and the others find them.
func (s *Service) UpsertEach(ctx context.Context, by core.Actor, requests []Request) ([]core.Outcome[Upserted], error) {
	leave, err := s.batches.Enter(ctx, by.Tenant.ID)
	if err != nil {
		return nil, err
	}
	defer leave()
	var outcomes []core.Outcome[Upserted]
	for range maxAttempts {
		outcomes, err = db.In(ctx, s.db.TenantAs(by, core.Cashier), func(tx *db.Tx) ([]core.Outcome[Upserted], error) {
			return upsertEach(ctx, tx, by, requests)
		})
		if !IDTaken(err) {
			break
		}
	}
	if err != nil {
		return nil, err
	}
	s.meter.Forget(by.Tenant.ID, usage.Customers)
	for i, r := range requests {
		if errors.Is(outcomes[i].Err, errLeftOut) {
			outcomes[i].Reply, outcomes[i].Err = s.Upsert(ctx, by, r.New, r.Once)
		}
	}
	return outcomes, nil
}

// errLeftOut marks a request of which the transaction of the others has done nothing.
var errLeftOut = errors.New("customer: the request goes alone")

// planned is what is to be done for a request.
type planned struct {
	Imported       // with the ID of the customer who is found or created
	creates  bool  // otherwise they are there, or an earlier request creates them
	notesID  bool  // the customer who is found may get the external ID
	repeats  *int  // the earlier request that has its key
	refusal  error // why nothing is done
}

// upsertEach returns what came of each request. Those that are left out have errLeftOut.
func upsertEach(ctx context.Context, tx *db.Tx, by core.Actor, requests []Request) ([]core.Outcome[Upserted], error) {
	plan, keys := make([]planned, len(requests)), []string{}
	for i, r := range requests {
		plan[i].ID = core.NewID(tx.Now)
		plan[i].Details, plan[i].refusal = r.Validate(by.Tenant.Country, by.Tenant.PhoneOptional, tx.Now)
		if r.Once != nil && !slices.Contains(keys, r.Once.Key) {
			keys = append(keys, r.Once.Key)
		}
	}
	sought := keysOf(db.Column(plan, func(p planned) Imported { return p.Imported }))
	var (
		settings struct {
			Country       string
			PhoneOptional bool
		}
		uses  []usage.Use
		found []takenRow
	)
	keyed, readings := db.ReadKeyed(tx, by, keys)
	err := errors.Join(db.Queue(tx, lockBatchSQL, nil), LockCountry(tx))
	if err == nil {
		err = db.Together(ctx, tx, slices.Concat(readings, []db.Reading{
			db.OneInto(&settings, settingsSQL, nil), usage.Reading(&uses, tx, usage.Customers), readTaken(&found, sought),
		})...)
	}
	switch {
	case err != nil:
		return nil, err
	case settings.Country != by.Tenant.Country || settings.PhoneOptional != by.Tenant.PhoneOptional:
		return nil, core.Unavailable(errSettingsChanged)
	}
	makePlan(by, requests, plan, keyed, takenOf(found), uses)

	customers, created, err := carryOut(ctx, tx, by, plan)
	if err != nil {
		return nil, err
	}
	outcomes := make([]core.Outcome[Upserted], len(requests))
	for i, r := range requests {
		if outcomes[i], err = outcomeOf(plan[i], outcomes, customers, created, keyed, r.Once); err != nil {
			return nil, err
		}
	}
	return outcomes, keyed.Save()
}

// makePlan decides what is done for each request, as if those before were done.
func makePlan(actor core.Actor, requests []Request, plan []planned, keyed *db.Keyed, taken Taken, uses []usage.Use) {
	byKey, noted := map[string]int{}, map[string]bool{}
	for i := range plan {
		p, once := &plan[i], requests[i].Once
		if once != nil {
			if earlier, repeats := byKey[once.Key]; repeats && plan[earlier].refusal == nil {
				p.repeats = &earlier
				continue
			}
			byKey[once.Key] = i
			// A stored response comes before what is wrong with the request.
			if first, err := keyed.First(once.RequestKey); first != nil || err != nil {
				p.repeats = &i
				continue
			}
		}
		if p.refusal != nil {
			continue
		}
		who, by, found := taken.Find(p.Details)
		if p.ExternalID != nil && by != string(ExternalKey) && noted[*p.ExternalID] {
			p.refusal = errLeftOut // it depends on whether an earlier request's customer gets the ID
			continue
		}
		if found {
			p.ID = who
			if p.ExternalID != nil && by != string(ExternalKey) {
				p.notesID, noted[*p.ExternalID] = true, true
			}
			continue
		}
		p.refusal = RequireCountry(actor)
		for j := range uses { // one, if there is a limit
			if p.refusal == nil {
				p.refusal = uses[j].Refuse(1)
			}
			if p.refusal == nil {
				uses[j].Used++
			}
		}
		if p.refusal == nil {
			p.creates = true
			taken.add(p.Imported)
		}
	}
}

// carryOut creates the customers of a plan, and returns all customers that it names. One whose phone number or e-mail address another
// customer got meanwhile is missing.
func carryOut(ctx context.Context, tx *db.Tx, by core.Actor, plan []planned) (customers map[core.ID]Customer, created map[core.ID]bool, err error) {
	var missing []Imported
	var noting []planned
	var ids []core.ID
	for _, p := range plan {
		if p.refusal != nil || p.repeats != nil {
			continue
		}
		ids = append(ids, p.ID)
		if p.creates {
			missing = append(missing, p.Imported)
		}
		if p.notesID && !slices.ContainsFunc(noting, func(n planned) bool { return n.ID == p.ID }) {
			noting = append(noting, p)
		}
	}
	if len(missing) > 0 {
		if created, err = insertAll(ctx, tx, missing, nil); err != nil {
			return nil, nil, err
		}
		openings := make([]ledger.Opening, 0, len(created))
		for _, c := range missing {
			if !created[c.ID] {
				continue
			}
			openings = append(openings, ledger.Opening{Customer: c.ID})
			if len(c.Tags) > 0 {
				if err := setTags(tx, c.ID, c.Tags); err != nil {
					return nil, nil, err
				}
			}
		}
		if err := ledger.OpenAll(tx, by, "", openings); err != nil {
			return nil, nil, err
		}
	}
	if err := noteExternalIDs(ctx, tx, by, noting); err != nil {
		return nil, nil, err
	}
	customers = make(map[core.ID]Customer, len(ids))
	if len(ids) == 0 {
		return customers, created, nil
	}
	rows, err := db.All[Customer](ctx, tx, findAllSQL, db.Args{"ids": ids})
	if err != nil {
		return nil, nil, err
	}
	for _, c := range rows {
		customers[c.ID] = c
		if !created[c.ID] {
			continue
		}
		if err := c.noteCreated(tx, by); err != nil {
			return nil, nil, err
		}
	}
	return customers, created, nil
}

const noteExternalIDsSQL = `
	update loyalty.customer c
	set external_id = given.external_id,
		updated_at = @now
	from unnest(@ids::uuid[], @external_ids::text[]) given (id, external_id)
	where c.tenant_id = @tenant_id
		and c.id = given.id` + getsExternalID + `
	returning c.id, c.external_id`

// noteExternalIDs gives customers who were found the IDs by which a program knows them, as noteExternalID does for one.
func noteExternalIDs(ctx context.Context, tx *db.Tx, by core.Actor, noting []planned) error {
	if len(noting) == 0 {
		return nil
	}
	type named struct {
		ID         core.ID
		ExternalID string
	}
	changed, err := db.All[named](ctx, tx, noteExternalIDsSQL, db.Args{
		"ids":          db.Column(noting, func(p planned) core.ID { return p.ID }),
		"external_ids": db.Column(noting, func(p planned) string { return *p.ExternalID }), "now": tx.Now,
	})
	if err != nil {
		return err
	}
	for _, c := range changed {
		if err := logExternalID(tx, by, c.ID, c.ExternalID); err != nil {
			return err
		}
	}
	return nil
}

// outcomeOf returns what came of a request, after those before.
func outcomeOf(p planned, before []core.Outcome[Upserted], customers map[core.ID]Customer, created map[core.ID]bool, keyed *db.Keyed, once *core.Once[Upserted]) (outcome core.Outcome[Upserted], err error) {
	c, found := customers[p.ID]
	switch {
	case p.repeats != nil && errors.Is(before[*p.repeats].Err, errLeftOut):
		outcome.Err = errLeftOut
	case p.repeats != nil:
		outcome.Response, outcome.Err = keyed.First(once.RequestKey)
	case p.refusal != nil:
		outcome.Err = p.refusal
	case !found, p.notesID && c.ExternalID == nil: // another request was faster, or the ID may be a further one of theirs
		outcome.Err = errLeftOut
	default:
		outcome.Result = Upserted{Customer: c, Created: p.creates && created[p.ID]}
		outcome.Response, err = storeResponse(keyed, once, outcome.Result)
	}
	return outcome, err
}

// storeResponse makes and stores the response to a request; nil without a key.
func storeResponse(keyed *db.Keyed, once *core.Once[Upserted], result Upserted) (*core.Response, error) {
	if once == nil {
		return nil, nil //nolint:nilnil // without a key, none is stored
	}
	response, err := once.Respond(result)
	if err != nil {
		return nil, err
	}
	keyed.Store(once.RequestKey, response)
	return &response, nil
}
