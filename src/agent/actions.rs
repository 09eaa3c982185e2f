//! Carrying out what came out of the journal: each action of a sale to the device it concerns.

use pos_core::sale::Action;
use pos_reader::ReaderOrder;
use pos_terms::transaction::SaleNumber;

use super::Agent;
use super::sale_desk::Afterwards;

impl Agent {
    /// Carries out one action. Nothing here waits: answers come back through the loop.
    pub(super) fn act(&mut self, number: SaleNumber, action: Action) {
        let Some(action) = self.left_by_the_trainer(number, action) else { return };
        let Some(action) = self.left_by_the_slot(number, action) else { return };
        match action {
            Action::AskTip => self.ask_tip(number),
            Action::Arm => self.arm(number),
            Action::StopReader => {
                if self.reader.in_use_by == Some(number) {
                    self.order_reader(number, ReaderOrder::Cancel { sale: number });
                }
            }
            Action::Ask => self.ask(number),
            Action::Poll { payment } => self.poll(number, payment),
            Action::AnswerCard(answer) => self.answer_card(number, *answer),
            Action::Query { references } => self.query(number, references),
            Action::Reverse { .. } => {
                if let Some(Action::Reverse { payment, amount, reference }) = self.may_leave(number, action) {
                    self.reverse(number, payment, amount, reference);
                }
            }
            Action::Alarm { why } => self.alarm(number, &why),
            Action::Print(paper) => self.sales.afterwards.push_back((number, Afterwards::Print(paper))),
            Action::Tell => self.sales.afterwards.push_back((number, Afterwards::Tell)),
        }
    }
}
