-- Days have a row of all who came, whenever they had come before: day_visit.prior is infinity. So all are counted anew.
-- +goose Up
update loyalty.days_counted
set zone = '';
